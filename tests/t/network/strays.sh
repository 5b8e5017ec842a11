# limit: 90
# nightly: strict
# needs: root
# Ways that packets go astray: judged as one place, sent to another; and answers from whom nobody asked.
. "$T_LIB"
. "$(dirname "$T_LIB")/netlab.sh"

# What is this machine's own in words of IPv6 is a stranger's on the wire.
t_disguised() {
	lab
	own_host 'allow = localhost:3000-3999' 'allow = 10.7.7.7:3000'
	lab_forget
	fsh 'python3 -c "
import errno, socket
for to in (\"64:ff9b::7f00:1\", \"64:ff9b::\", \"::7f00:1\", \"64:ff9b::10.7.7.7\", \"::10.7.7.7\"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_INET6, kind)
        s.settimeout(0.5)
        try:
            s.connect((to, 3000))
            s.send(b\"secret\")
        except OSError as e:
            print(errno.errorcode.get(e.errno, e))
"'
	out_is "$(yes EACCES | head -10)"
	only_the_good
	recorded connect deny '64:ff9b:0:0:0:0:7f00:1]:3000'
	run pale explain connect '[64:ff9b::7f00:1]:3000'
	rc_not 0
	run pale explain connect 127.0.0.1:3000
	rc_is 0
}

# Bound to a wire, a socket takes what is meant for this machine out.
t_devices() {
	lab
	own_host 'allow = localhost:3000-3999'
	lab_forget
	fsh 'python3 -c "
import errno, socket
for family, to in ((socket.AF_INET, \"127.0.0.1\"), (socket.AF_INET, \"0.0.0.0\"), (socket.AF_INET6, \"::1\")):
    for option, value in ((socket.SO_BINDTODEVICE, b\"wire\"), (62, socket.if_nametoindex(\"wire\"))):
        s = socket.socket(family)
        s.settimeout(0.5)
        try:
            s.setsockopt(socket.SOL_SOCKET, option, value)
        except OSError as e:
            print(errno.errorcode[e.errno])
        try:
            s.connect((to, 3000))
        except OSError as e:
            print(errno.errorcode.get(e.errno, e))
"'
	out_is "$(yes "EPERM
ECONNREFUSED" | head -12)"
	only_the_good
}

# Whom the policy does not let be sent to is not heard either, connected or not; hearing opens no way.
t_uninvited() {
	lab
	own_host "udp = $GOOD:7777"
	lab_forget
	fsh 'python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def hear():
    s.settimeout(0.5)
    try:
        print(s.recv(100))
    except OSError as e:
        print(type(e).__name__)
good, evil = (\"'$GOOD'\", 7777), (\"'$EVIL'\", 7777)
s.sendto(b\"hi\", good)
hear()
s.connect(evil)
s.sendto(b\"speak up\", good)
hear()
try:
    s.sendto(b\"secret\", evil)
except OSError as e:
    print(e.strerror)
s.connect(good)
s.send(b\"again\")
hear()
"'
	out_is "b'echo hi'
TimeoutError
Permission denied
b'echo again'"
	reached udp $GOOD 7777
	not_reached udp $EVIL
}

# A question's type says two bytes, and what looks like an address is a name to a name server.
t_questions() {
	lab
	own_host
	lab_forget
	local n
	fsh 'python3 -c "
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
def ask(name, kind):
    labels = b\"\".join(bytes([len(l)]) + l.encode() for l in name.split(\".\"))
    s.sendto(b\"ab\1\0\0\1\0\0\0\0\0\0\" + labels + b\"\0\" + struct.pack(\">HH\", kind, 1), (\"'$LAB_DNS'\", 53))
    return s.recv(600)[3] & 15
for kind in (1, 28, 65, *range(300, 400)):
    ask(\"a.own.example\", kind)
print(ask(\"own.example\", 16), ask(\"1.2.3.4\", 1), ask(\"own.443\", 16))
"'
	out_is "0 3 3"
	asked a.own.example
	n=$(tail -n +$((LAB_QUERIES + 1)) "$LAB/dns.log" | grep -ic ' query\[[^ ]* a\.own\.example')
	[ "$n" -le 45 ] || fail "the name was asked for $n times"
	not_asked 1.2.3.4
	not_asked own.443
	recorded resolve deny a.own.example
}

scenario "$@"
