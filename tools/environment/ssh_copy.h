/* What of ~/.ssh is no secret, as a copy that the session reads. */
#ifndef PALE_SSH_COPY_H
#define PALE_SSH_COPY_H

/*
 * Writes config, known_hosts and the public keys of home/.ssh anew into dir, which the session cannot write;
 * path is its name.  0, also where there is no ~/.ssh, or -errno.
 */
int ssh_copy(int dir, const char *path, const char *home);

#endif
