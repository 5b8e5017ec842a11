/* Keeps messages while the agent has the terminal, up to a number, and says them afterwards. */
#include <stdlib.h>
#include <unistd.h>

#include "tools/base/output.h"

#include "run.h"

void heldback_hush(struct heldback *h)
{
	h->on = isatty(STDERR_FILENO);
}

void heldback_say(struct heldback *h, char *text)
{
	if (h->on && text && h->n < HELDBACK_MAX) {
		h->text[h->n++] = text;
		return;
	}
	if (h->on)
		h->more++;
	else
		talk("%s", text ? text : "out of memory");
	free(text);
}

void heldback_release(struct heldback *h, const char *session)
{
	h->on = false;
	for (size_t i = 0; i < h->n; i++)
		heldback_say(h, h->text[i]);
	if (h->more)
		talk("%zu more warnings; see: pale log --session %s", h->more, session);
	h->n = h->more = 0;
}
