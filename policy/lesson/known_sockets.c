/* The table of well-known sockets, and the search in it. */
#include "known_sockets.h"

#include <string.h>

#include "policy/base/path.h"

#define CONTAINERS  "access to a container daemon is root access"
#define BUS	    "programs on the bus start others, outside the fence"
#define SYSTEMD	    "systemd starts programs outside the fence"
#define MULTIPLEXER "a terminal multiplexer types into shells outside the fence"
#define SSH_AGENT   "ssh-agent signs with the operator's keys"
#define GPG_AGENT   "gpg-agent signs and decrypts with the operator's keys"
#define KEYRING	    "the keyring gives the operator's secrets away"
#define DISPLAY	    "who is on the display reads keys and screen, and types"
#define SOUND	    "the sound server has microphones and the screen"
#define EDITOR	    "an editor runs what it is told, outside the fence"

static const struct known_socket table[] = {
	{ "*/docker.sock", CONTAINERS },
	{ "*/podman.sock", CONTAINERS },
	{ "*/containerd.sock*", CONTAINERS },
	{ "*/crio.sock", CONTAINERS },
	{ "*/buildkitd.sock", CONTAINERS },
	{ "*/lxd/unix.socket*", CONTAINERS },
	{ "*/incus/unix.socket*", CONTAINERS },
	{ "*/libvirt/*-sock*", "libvirt runs machines with what disks they are told" },
	{ "/run/snapd*.socket", "snapd installs and runs programs" },
	{ "*/dbus/system_bus_socket", BUS },
	{ "/run/user/*/bus", BUS },
	{ "/run/user/*/at-spi/*", DISPLAY },
	{ "*/dbus-[A-Za-z0-9]*", BUS },
	{ "/run/systemd/*", SYSTEMD },
	{ "/run/user/*/systemd/*", SYSTEMD },
	{ "*/tmux-[0-9]*/*", MULTIPLEXER },
	{ "/run/screen/S-*", MULTIPLEXER },
	{ "*/.screen/*", MULTIPLEXER },
	{ "*/zellij/*", MULTIPLEXER },
	{ "*/kitty-*", MULTIPLEXER },
	{ "@kitty*", MULTIPLEXER },
	{ "*/wezterm/*", MULTIPLEXER },
	{ "*/ssh-*/agent.*", SSH_AGENT },
	{ "*/.ssh/agent/*", SSH_AGENT },
	{ "*/keyring/*ssh", SSH_AGENT },
	{ "*/gcr/ssh", SSH_AGENT },
	{ "*/ssh-agent*", SSH_AGENT },
	{ "*/openssh_agent", SSH_AGENT },
	{ "*/yubikey-agent/*", SSH_AGENT },
	{ "*/.ssh/*", "an ssh connection of the operator's leads to other machines" },
	{ "*/S.gpg-agent*", GPG_AGENT },
	{ "*/S.scdaemon", GPG_AGENT },
	{ "*/S.keyboxd", GPG_AGENT },
	{ "*/S.dirmngr", "dirmngr looks up names and fetches addresses outside the fence" },
	{ "*/keyring/*", KEYRING },
	{ "*/kwallet*.socket", KEYRING },
	{ "*/1password/*.sock", KEYRING },
	{ "*/.X11-unix/*", DISPLAY },
	{ "*/.ICE-unix/*", DISPLAY },
	{ "/run/user/*/wayland-*", DISPLAY },
	{ "*/pipewire-[0-9]*", SOUND },
	{ "*/pulse/native", SOUND },
	{ "*/vscode-*", EDITOR },
	{ "*/emacs*/server", EDITOR },
	{ "*/nvim.*", EDITOR },
};

const struct known_socket *socket_known(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const char *p = table[i].pattern;

		/* An abstract name is often `@` and the path of a file: "@/tmp/.X11-unix/X0". */
		if (glob_match(p, strlen(p), path, len) ||
		    (path[0] == '@' && glob_match(p, strlen(p), path + 1, len - 1)))
			return &table[i];
	}
	return NULL;
}
