# limit: 600
# nightly: strict
# Pushes, and local work that ends with one, as recorded in flows.txt: inside a session it is the same as bare,
# but for what flows-differs.txt names.
. "$T_LIB"
. "$(dirname "$T_LIB")/git-servers.sh"
. "$(dirname "$T_LIB")/flows-lib.sh"

t_push() { flows push; }
t_local() { flows local; }

scenario "$@"
