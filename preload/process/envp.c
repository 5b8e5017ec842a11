/*
 * The child's environment: it keeps the preload and the session, whatever the program changed.
 *
 * The caller's vector and strings are never modified: a vfork child shares them with its parent
 * (gentoo/sandbox had that error, bug 669702).  A new vector is built, on the caller's stack if it fits.
 */
#include "envp.h"

#include "policy/wire/wire.h"

#include "raw.h"
#include "session.h"
#include "sys.h"

#define PRELOAD_KEY ENV_PRELOAD "="
#define SESSION_KEY ENV_SESSION_DIR "="
#define IMAGE_KEY   ENV_IMAGE "="

static const char *value_of(const char *entry, const char *key)
{
	size_t n = strlen(key);

	return strncmp(entry, key, n) == 0 ? entry + n : NULL;
}

static bool is_separator(char c)
{
	return c == ':' || c == ' ';
}

/* True if the list of objects starts with libpale.so. */
static bool preload_leads(const char *list)
{
	size_t n = strlen(session.self);

	return strncmp(list, session.self, n) == 0 && (list[n] == '\0' || is_separator(list[n]));
}

/* ld.so uses the last of several LD_PRELOAD entries, getenv the first: each of them must be right. */
bool env_is_intact(char *const envp[])
{
	bool preload = false, dir = false, image = session.image == 0;
	char own[WIRE_IMAGE_NAME];
	const char *v;

	wire_image_name(own, session.image);
	for (; envp && *envp; envp++) {
		v = value_of(*envp, PRELOAD_KEY);
		if (v && !preload_leads(v))
			return false;
		preload |= v != NULL;
		v = value_of(*envp, SESSION_KEY);
		if (v && strcmp(v, session.dir) != 0)
			return false;
		dir |= v != NULL;
		v = value_of(*envp, IMAGE_KEY);
		if (v && strcmp(v, own) != 0)
			return false;
		image |= v != NULL;
	}
	return preload && dir && image;
}

/* A child may have an image that lies within that of this process, and no other. */
static uint32_t child_image(char *const envp[])
{
	const char *v = NULL;
	const struct image *own;
	struct image img;
	bool inside;
	int number;

	for (; !v && envp && *envp; envp++)
		v = value_of(*envp, IMAGE_KEY);
	number = v ? wire_image_number(v) : -1;
	if (number < 0 || state_now() != STATE_LIVE || session_image((uint32_t)number, &img) < 0)
		return session.image;
	own = image_now();
	inside = own && image_is_within(&img, own);
	raw2(SYS_munmap, img.base, img.size);
	return inside ? (uint32_t)number : session.image;
}

/* The environment entry that names the image; NULL for the session's own image, which needs none. */
static char *image_entry(struct env_arena *arena, uint32_t image)
{
	struct out o = out_of(arena->image, sizeof arena->image);
	char name[WIRE_IMAGE_NAME];

	if (image == 0)
		return NULL;
	wire_image_name(name, image);
	text_str(&o, IMAGE_KEY);
	text_str(&o, name);
	text_end(&o);
	return arena->image;
}

static bool is_ours(const char *entry)
{
	return value_of(entry, PRELOAD_KEY) || value_of(entry, SESSION_KEY) || value_of(entry, IMAGE_KEY);
}

/* Appends the objects of list that are not ours. */
static void merge_preload(struct out *o, const char *list)
{
	size_t self = strlen(session.self);

	while (*list) {
		size_t n = strcspn(list, ": ");

		if (n && (n != self || memcmp(list, session.self, n) != 0)) {
			text_str(o, ":");
			put_bytes(o, list, n);
		}
		list += n + (list[n] != '\0');
	}
}

struct env_room {
	char **vector;
	char *text;
	size_t text_size;
};

/* Uses the stack if vector and text fit, else a mapping for both. */
static bool env_room(struct env_arena *arena, size_t entries, size_t text, struct env_room *ret)
{
	size_t bytes = entries * sizeof(char *) + text;

	*ret = (struct env_room){ arena->fixed, arena->text, sizeof arena->text };
	if (entries <= sizeof arena->fixed / sizeof arena->fixed[0] && text <= sizeof arena->text)
		return true;
	arena->map = scratch_get(bytes);
	if (!arena->map)
		return false;
	arena->map_size = bytes;
	*ret = (struct env_room){ arena->map, (char *)arena->map + entries * sizeof(char *), text };
	return true;
}

char **env_repair(struct env_arena *arena, char *const envp[])
{
	const char *preload = "", *v;
	struct env_room room;
	size_t n = 0, at = 2;
	struct out o;

	arena->map = NULL;
	if (!in_session() || !session.self[0] || env_is_intact(envp))
		return (char **)envp;
	for (; envp && envp[n]; n++) {
		v = value_of(envp[n], PRELOAD_KEY);
		preload = v ? v : preload;
	}
	if (!env_room(arena, n + 4, sizeof PRELOAD_KEY + strlen(session.self) + strlen(preload) + 2, &room))
		return NULL;
	o = out_of(room.text, room.text_size);
	text_str(&o, PRELOAD_KEY);
	text_str(&o, session.self);
	merge_preload(&o, preload);
	text_end(&o);
	room.vector[0] = room.text;
	room.vector[1] = session.env_dir;
	v = image_entry(arena, child_image(envp));
	if (v)
		room.vector[at++] = (char *)v;
	for (size_t i = 0; i < n; i++)
		if (!is_ours(envp[i]))
			room.vector[at++] = envp[i];
	room.vector[at] = NULL;
	return room.vector;
}

void env_done(struct env_arena *arena)
{
	if (arena->map)
		scratch_put(arena->map, arena->map_size);
	arena->map = NULL;
}
