/* Nested runs: images inside those of the processes that ask. */
#ifndef PALE_HELPER_NARROW_RUN_H
#define PALE_HELPER_NARROW_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct conn;
struct helper;

/* Answers with a new image inside `outer`, made of the bundle in fd (borrowed); with `outer` itself where fd
 * is -1.  Where there is a supervisor, the answer waits until it has applied the new image to the process. */
void narrow_serve(struct helper *h, struct conn *c, uint32_t outer, int fd);
/* The supervisor has applied that image to process pid, or (NOTED_NOT) cannot. */
enum noted { NOTED_NOT, NOTED_HELD };
void narrow_noted(struct helper *h, pid_t pid, uint32_t image, enum noted how);
/* The supervisor did not answer in time. */
void narrow_expire(struct helper *h, struct conn *c);
/*
 * Drops connections whose answer was received.  False where so many answers are not received yet that no
 * more may be sent.
 */
bool narrow_may_send(struct helper *h);

#endif
