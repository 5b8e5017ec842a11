# limit: 600
# nightly: strict
# Work with git and a remote, as recorded in flows.txt: inside a session it is the same as bare, but for what
# flows-differs.txt names.
. "$T_LIB"
. "$(dirname "$T_LIB")/git-servers.sh"
. "$(dirname "$T_LIB")/flows-lib.sh"

t_look() { flows look; }
t_fetch() { flows fetch; }
t_pull() { flows pull; }
t_clone() { flows clone; }
t_odd() { flows odd; }
t_trees() { flows trees; }
t_https() { flows https; }
t_ssh() { flows ssh; }
t_daemon() { flows daemon; }
t_gitolite() { flows gitolite; }

scenario "$@"
