#!/bin/bash
# Words that no comment has any more: each stood for a process, a caller or the operator, and only its author knew
# for which.  Messages may have them.  The datagram sockets and git's files are still to be rewritten.

cd "$(dirname "$0")/.." || exit 2
WORDS='\b(nobody|whoever|whom|somebody|everybody|anybody)\b'

! grep -rnE "(^[[:space:]]*|/)\* .*$WORDS" policy preload helper tools --include='*.[ch]' --include='*.def' |
	grep -vE '^(tools/supervisor/datagrams|tools/(supervisor/)?git|policy/gitfiles)/'
