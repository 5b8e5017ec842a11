# limit: 50
# nightly: strict
# needs: root
# A day's use of the network by name, in an internet of its own (netlab.sh): spellings, search domains,
# /etc/hosts, servers of the workspace, sessions side by side, approvals, and what pale says of it all.
. "$T_LIB"
. "$(dirname "$T_LIB")/netlab.sh"

get() {
	fence curl -sS -m 5 "http://$1"
}

# --- names ---------------------------------------------------------------------------------------------------

t_spellings() {
	lab
	own_host 'allow = bücher.example' 'deny = www.own.example'
	local name
	for name in own.example OWN.Example own.example. six.own.example; do
		get "$name/hello"
		out_has good
	done
	for name in bücher.example xn--bcher-kva.example BÜCHER.example; do
		get "$name/hello"
		out_is "good xn--bcher-kva.example"
		run pale explain connect "$name:80"
		rc_is 0 "explain $name"
	done
	for name in www.own.example WWW.OWN.EXAMPLE www.own.example.; do
		get "$name/hello"
		rc_not 0
		not_asked www.own.example
		run pale explain connect "$name:80"
		rc_is 1 "explain $name"
	done
	only_the_good
	not_reached tcp $GOOD2
}

t_search_domains() {
	lab
	own_host 'allow = intra.corp.example'
	get intra/hello
	out_is "good intra"
	# The first domain's name is denied and asked of nobody, the second's is it.
	get www/hello
	out_is "good www"
	not_asked www.corp.example
	get nothing/hello
	rc_not 0
	recorded connect allow intra.corp.example
	recorded resolve deny www.corp.example
	only_the_good
}

t_hosts_file() {
	lab
	own_host 'allow = hosted.example'
	get hosted.example/hello
	out_is "good hosted.example"
	get hosts-evil.example/hello
	rc_not 0
	! queries | grep -q hosted || fail "what /etc/hosts says was asked for"
	recorded connect allow hosted.example
	only_the_good
}

# One address, two names, of which one is allowed: whoever asked for that one may go there.
t_several_names() {
	lab
	printf '[network]\nallow = own.example\ndeny = twin.own.example\n' | policy
	get own.example/hello
	out_is "good own.example"
	get twin.own.example/hello
	rc_not 0
	not_asked twin.own.example
	recorded connect allow own.example
	not_recorded connect allow twin.own.example
}

# A program connects by what it looked up before, when the answer has died long since.
t_short_life() {
	lab
	own_host
	fsh 'a=$(dig +short short.own.example) && sleep 2 && curl -sS -m 5 http://$a/hello'
	out_is "good $GOOD"
	recorded connect allow short.own.example
}

# --- the workspace's own servers ------------------------------------------------------------------------------

t_dev_server() {
	lab
	own_host
	echo "from the workspace" >page
	fsh '
		python3 -m http.server -b 127.0.0.1 8123 2>/dev/null & one=$!
		python3 -m http.server -b ::1 8124 2>/dev/null & two=$!
		node -e "require(\"http\").createServer((q, r) => r.end(\"from node\\n\")).listen(8125, \"localhost\")" & three=$!
		curl -sS -m 5 --retry 50 --retry-delay 0 --retry-connrefused --retry-max-time 5 http://localhost:8123/page
		curl -sS -m 5 --retry 50 --retry-delay 0 --retry-connrefused --retry-max-time 5 http://[::1]:8124/page
		curl -sS -m 5 --retry 50 --retry-delay 0 --retry-connrefused --retry-max-time 5 http://localhost:8125/
		busybox wget -q -O - http://127.0.0.1:8123/page
		kill $one $two $three'
	out_is "from the workspace
from the workspace
from node
from the workspace"
	# For the world by a rule alone, whatever address it listens at.
	bg here timeout 20 python3 -m http.server -b 0.0.0.0 8126
	until_true 5 curl -sS -m 5 -o "$S/here" http://127.0.0.1:8126/page || fail "not even had from here"
	! had_from_outside 8126 || fail "had from outside"
	kill $BG
	wait $BG
	own_host 'bind = 8127'
	bg world timeout 20 python3 -m http.server -b 0.0.0.0 8127
	until_true 5 had_from_outside 8127 || fail "a rule opens no port"
	kill $BG
}

# --- sessions ----------------------------------------------------------------------------------------------------

# What one session looked up is no leave for the other.
t_two_sessions() {
	lab
	own_host
	printf '[network]\nallow = six.own.example\n' >"$S/other.ini"
	bg one bash -c 'curl -sS -m 5 http://own.example/hello
		touch looked; until test -e over; do sleep 0.05; done; curl -sS -m 5 http://own.example/hello'
	until_true 10 test -e looked || fail "the first session does not reach its host"
	OPTS=(-p "$S/other.ini")
	fence curl -sS -m 5 http://$GOOD/hello
	rc_not 0
	fence curl -sS -m 5 http://own.example/hello
	rc_not 0
	fence curl -sS -m 5 http://six.own.example/hello
	out_is "good six.own.example"
	touch over
	bg_wait one
	out_is "good own.example
good own.example"
	only_the_good
}

# A session in a session narrows: its host must be allowed by both.
t_nested() {
	lab
	own_host
	printf '[network]\nmode = replace\nallow = www.own.example\nallow = evil.example\n' >inner.ini
	fence pale run -q -p inner.ini -- curl -sS -m 5 http://www.own.example/hello
	out_is "good www.own.example"
	fence pale run -q -p inner.ini -- curl -sS -m 5 http://own.example/hello
	rc_not 0
	fence pale run -q -p inner.ini -- curl -sS -m 5 http://evil.example/hello
	rc_not 0
	only_the_good
}

# --- modes --------------------------------------------------------------------------------------------------------

t_modes() {
	lab
	printf '[network]\nmode = off\n' | policy
	get own.example/hello
	rc_not 0
	fence curl -sS -m 5 -k https://registry.npmjs.org/hello
	rc_not 0
	fence python3 -c 'import socket; socket.create_connection(("own.example", 80))'
	rc_not 0
	fence "$T_VICTIMS/net-static" connect $GOOD 80
	out_is EACCES
	fence busybox nslookup own.example
	rc_not 0
	fsh 'git ls-remote http://own.example/repo.git'
	rc_is 126
	fsh "ls http://own.example/"
	rc_is 126
	! packets | grep -q . || fail "mode off, and yet: $(packets)"
	printf '[network]\nmode = strict\nallow = own.example\n' | policy
	get own.example/hello
	rc_not 0
	fence curl -sS -m 5 -k https://registry.npmjs.org/hello
	out_is "good registry.npmjs.org"
	printf '[network]\nmode = replace\nallow = own.example\n' | policy
	get own.example/hello
	out_is "good own.example"
	lab_forget
	fence curl -sS -m 5 -k https://registry.npmjs.org/hello
	rc_not 0
	not_asked registry.npmjs.org
	printf '[network]\nmode = open\ndeny = notown.example\n' | policy
	get evil.example/hello
	out_is "evil evil.example"
	get "$EVIL/hello"
	out_is "evil $EVIL"
	recorded connect allow evil.example
	lab_forget
	for name in notown.example $METADATA "[$METADATA6]" rebind-metadata.own.example $LAN rebind-private.own.example; do
		get "$name/hello"
		rc_not 0 "$name in mode open"
	done
	not_asked notown.example
	not_reached tcp "($METADATA|$METADATA6|$LAN)"
}

# A mirror inside: an allowed name with an address of the organization's network is asked about, once, with that
# address on the card and in the rule.
t_a_mirror_inside() {
	lab
	local id name=rebind-private.own.example curl to
	printf '[network]\nallow = %s\nask = asked.example\n' $name | policy
	curl="curl -sS -m 20 http://$name/hello"
	bg twice bash -c "$curl; $curl"
	id=$(pending_id) || exit 1
	run pale pending
	out_has "$LAN:80"
	run pale approve "$id" --session
	rc_is 0
	err_has "allow = $LAN:80"
	bg_wait twice
	[ "$(grep -c "evil $name" "$S/out")" = 2 ] || fail "$(cat "$S/out")"
	bg denied bash -c "$curl"
	id=$(pending_id) || exit 1
	run pale deny "$id"
	bg_wait denied
	rc_not 0
	for to in $name $LAN $name:8080; do
		run pale run -q -n -- curl -sS -m 5 "http://$to/hello"
		rc_not 0 "$to"
		err_has "pale: denied"
	done
	run pale explain connect $name:80 $LAN
	out_has "ASK"
	out_has "allow = $LAN:80"
}

# The seed's two variables, where the launcher's environment has them.
t_variables() {
	lab
	export SANDBOX_NETWORK_MODE=MERGE WHITE_LIST_DOMAINS=own.example,www.own.example
	get own.example/hello
	out_is "good own.example"
	get www.own.example/hello
	out_is "good www.own.example"
	get six.own.example/hello
	rc_not 0
	fence curl -sS -m 5 -k https://registry.npmjs.org/hello
	out_is "good registry.npmjs.org"
	lab_forget
	export SANDBOX_NETWORK_MODE=REPLACE
	get own.example/hello
	out_is "good own.example"
	fence curl -sS -m 5 -k https://registry.npmjs.org/hello
	rc_not 0
	not_asked registry.npmjs.org
	export SANDBOX_NETWORK_MODE=STRICT
	get own.example/hello
	rc_not 0
	only_the_good
}

# --- approvals -------------------------------------------------------------------------------------------------------

t_approved() {
	lab
	own_host 'ask = www.own.example'
	bg one curl -sS -m 15 http://www.own.example/hello
	id=$(pending_id) || fail "nothing is pending"
	pale pending --json | grep -q www.own.example || fail "the question names no host: $(pale pending --json)"
	not_asked www.own.example
	run pale approve "$id"
	rc_is 0
	bg_wait one
	out_is "good www.own.example"
	! has_pending || fail "asked again: $(pale pending --json)"
	recorded connect allow www.own.example
	verifies
}

# What a yes allowed to a process that goes on ends with it.
t_a_yes_ends_with_its_grant() {
	lab
	own_host 'ask = www.own.example'
	cat >two.py <<-'END'
		import os, time, urllib.request
		def get():
		    try: print(urllib.request.urlopen("http://www.own.example/hello", timeout=15).read().decode().strip())
		    except OSError as e: print("no")
		get()
		open("first", "w").close()
		while not os.path.exists("ended"): time.sleep(0.02)
		get()
	END
	bg one python3 two.py
	id=$(pending_id) || fail "nothing is pending"
	run pale approve "$id" --session --yes --rule 'allow = www.own.example:80'
	rc_is 0
	until_true 10 test -e first || fail "the first is not answered"
	run pale revoke "$(pale grants --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')"
	rc_is 0
	touch ended
	id=$(pending_id) || fail "not asked again"
	run pale deny "$id"
	rc_is 0
	bg_wait one
	out_is "good www.own.example
no"
}

# The same for a program that no hook sees.
t_approved_static() {
	lab
	own_host 'ask = www.own.example'
	bg one busybox wget -q -O - http://www.own.example/hello
	id=$(pending_id) || fail "nothing is pending"
	not_asked www.own.example
	run pale approve "$id"
	rc_is 0
	bg_wait one
	out_is "good www.own.example"
	recorded connect allow www.own.example
}

# The call waits; the program's other threads do not.
t_others_go_on() {
	lab
	own_host 'ask = www.own.example'
	cat >two.py <<-'END'
		import threading, time, urllib.request
		def get(host):
		    print(urllib.request.urlopen("http://%s/hello" % host, timeout=15).read().decode().strip(), flush=True)
		waiting = threading.Thread(target=get, args=("www.own.example",))
		waiting.start()
		time.sleep(0.5)
		get("own.example")
		open("gone-on", "w").close()
		waiting.join()
	END
	bg one python3 two.py
	id=$(pending_id) || fail "nothing is pending"
	until_true 10 test -e gone-on || fail "the other thread waits too"
	run pale approve "$id"
	rc_is 0
	bg_wait one
	out_is "good own.example
good www.own.example"
}

t_answered_with_no() {
	lab
	own_host 'ask = www.own.example'
	bg one curl -sS -m 15 http://www.own.example/hello
	id=$(pending_id) || fail "nothing is pending"
	run pale deny "$id" --reason "use the mirror"
	rc_is 0
	bg_wait one
	rc_not 0
	err_has "use the mirror"
	not_asked www.own.example
	recorded resolve deny www.own.example
	not_reached tcp $GOOD2
}

t_too_late() {
	lab
	own_host 'ask = www.own.example'
	printf '[session]\ntimeout = 1s\n' >>"$HOME/.config/pale/policy.ini"
	bg one bash -c 'curl -sS -m 15 http://www.own.example/hello; until test -e go; do sleep 0.05; done
		curl -sS -m 15 http://www.own.example/hello'
	id=$(pending_id) || fail "nothing is pending"
	until_true 10 grep -q 'curl: ' "$S/one.err" || fail "no timeout"
	run pale approve "$id"
	rc_is 0
	: >go
	bg_wait one
	out_is "good www.own.example"
}

# --- what pale says ---------------------------------------------------------------------------------------------------

# pale explain agrees with what happens, and both name the host.
t_explain_agrees() {
	lab
	own_host 'deny = www.own.example' 'allow = *.corp.example:80-443' "allow = $HOSTED:80"
	local target want
	while read -r want target; do
		run pale explain connect "$target"
		rc_is $want "explain connect $target"
		lab_forget
		get "$target/hello"
		case $want in
		0) [ "$RC" = 0 ] || fail "explained as allowed: $target" ;;
		1) [ "$RC" != 0 ] || fail "explained as denied: $target" ;;
		esac
	done <<-END
		0 own.example:80
		0 own.example:8080
		0 six.own.example:80
		1 www.own.example:80
		0 intra.corp.example:80
		1 intra.corp.example:8080
		1 wild.evil.example:80
		1 evil.example:80
		1 $EVIL:80
		1 [$EVIL6]:80
		1 [::ffff:$EVIL]:80
		0 $HOSTED:80
		1 $HOSTED:8080
		1 $METADATA:80
		1 $LAN:80
		1 registry.npmjs.org:80
	END
	fsh "curl -sS -m 5 http://own.example/hello; curl -sS -m 5 http://evil.example/; curl -sS -m 5 http://$EVIL/"
	run pale log --json --op connect
	out_has own.example
	out_has "$EVIL:80"
	run pale log --json --op resolve --verdict deny
	out_has evil.example
	run pale log --op connect
	out_has "own.example:80"
	out_has "$GOOD"
	verifies
}

# The reason is on standard error, of programs without hooks too: host, port, and what to write.
t_reasons() {
	lab
	own_host
	fence perl -MIO::Socket::INET -e 'IO::Socket::INET->new("evil.example:80") or die "$!\n"'
	denied resolve evil.example
	fence "$T_VICTIMS/net-static" connect $EVIL 80
	out_is EACCES
	denied connect "$EVIL:80" "no rule names this host or port"
	fence busybox nslookup evil.example
	denied resolve evil.example
	fence busybox nc -w 2 $METADATA 80
	denied connect "$METADATA:80" "169.254.169.254"
	err_has "the metadata service hands out credentials"
	OPTS=(-n)
	fence curl -sS -m 5 http://rebind-private.own.example/
	denied connect rebind-private.own.example
}

# An address that nobody answers: the caller's own time limit ends it, other calls go on meanwhile.
t_nobody_answers() {
	lab
	own_host 'allow = 203.0.114.0/24'
	fsh 'for i in $(seq 100); do curl -sS --connect-timeout 3 http://203.0.114.$i/ 2>/dev/null & done
		sleep 0.5; curl -sS -m 2 http://own.example/hello; wait; echo ended'
	out_is "good own.example
ended"
}

scenario "$@"
