# needs: postgresql postgresql-contrib redis-server nginx-light curl sqlite3 openssl openssh-client gnupg git python3
# limit: 90
# Servers and keys: databases and a web server on loopback or a unix socket, openssl, ssh-keygen, gpg.

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

pg_path() {
	PATH=$(echo /usr/lib/postgresql/*/bin | tail -1):$PATH
	export PGHOST=$PWD PGDATABASE=postgres PGUSER=me PGDATA=$PWD/db
}
p_postgres() {
	pg_path
	initdb -N --no-locale -E UTF8 -A trust -U me >/dev/null
	printf '%s\n' "unix_socket_directories = '$PWD'" 'max_connections = 20' \
		'shared_buffers = 16MB' 'fsync = off' "timezone = 'UTC'" "log_line_prefix = ''" >>db/postgresql.conf
}
c_postgres() {
	pg_path
	port=$(free_port)
	export PGPORT=$port PGTZ=UTC
	pg_ctl -w -s -l log -o "-p $port -c listen_addresses=127.0.0.1" start
	echo $?
	psql -qAt <<-'END'
		create table t (id serial primary key, v text);
		insert into t (v) select md5(i::text) from generate_series(1, 20000) i;
		create index on t (v);
		begin; update t set v = 'x' where id % 3 = 0; rollback; select count(*), min(v) from t; select * from nonesuch;
		copy (select id from t order by id limit 3) to stdout; select pg_size_pretty(1e6::bigint);
		set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0; set min_parallel_table_scan_size = 0;
		select sum(length(v)) from t; vacuum analyze t; checkpoint;
		create table sorted as select v from t order by v desc; select pg_reload_conf(); \! echo from a shell
	END
	psql -h 127.0.0.1 -qAt -c 'select inet_server_addr()' && for i in 1 2 3 4; do
		psql -qAt -c "insert into t (v) select 'c$i' from generate_series(1, 500)" &
	done && wait && psql -qAt -c "select v, count(*) from t where v like 'c_' group by 1 order by 1"
	pgbench -i -q -s 1 2>/dev/null >&2 && pgbench -c 4 -j 2 -t 20 -n 2>/dev/null | grep -E 'actually|failed' &&
		psql -qAt -c 'select sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts'
	pg_dump -s -t t | grep -vE '^(--|SET|SELECT|\\(un)?restrict)' | sha256sum && pg_basebackup -D copy -c fast &&
		ls copy | wc -l && createdb other && psql -l -qAt | cut -d'|' -f1 | grep other
	pg_ctl -s -l log -m fast restart -o "-p $port -c listen_addresses=" &&
		psql -qAt -c 'select count(*) from t' && pg_ctl -s stop && pg_controldata | grep state && grep -c PANIC log
	chmod -R u+w db copy && rm -rf db copy log
}

c_redis() {
	port=$(free_port)
	printf '%s\n' "port $port" 'bind 127.0.0.1' "unixsocket $PWD/r.sock" \
		"dir $PWD" 'appendonly yes' 'save 60 1' 'daemonize yes' "pidfile $PWD/r.pid" "logfile $PWD/r.log" >r.conf
	up() { redis-server r.conf && until_true 10 redis-cli -s r.sock ping && until_true 10 test -s r.pid; }
	gone() { ! redis-cli -s r.sock ping >/dev/null 2>&1 && ! kill -0 "$1" 2>/dev/null; }
	up && redis-cli -p "$port" set k v && redis-cli -s r.sock get k &&
		seq 2000 | sed 's/.*/RPUSH l &/' | redis-cli -p "$port" >/dev/null && redis-cli -p "$port" llen l
	redis-cli -p "$port" --eval <(echo 'return redis.call("incrby", KEYS[1], ARGV[1])') n , 5 &&
		redis-cli -p "$port" save && redis-cli -p "$port" bgrewriteaof
	until_true 10 sh -c "redis-cli -p $port info persistence | grep -q aof_rewrite_in_progress:0" &&
		redis-benchmark -s r.sock -n 2000 -c 8 -t set,get -q 2>/dev/null | tr '\r' \
		'\n' | grep -c 'requests per second, p50'
	pid=$(cat r.pid) && redis-cli -p "$port" shutdown && until_true 10 gone "$pid" && ls -d ./*aof* ./*.rdb
	up && redis-cli -p "$port" lrange l -2 -1 && redis-cli -p "$port" get n && pid=$(cat r.pid) &&
		redis-cli -p "$port" shutdown nosave && until_true 10 gone "$pid" && redis-check-rdb dump.rdb | grep -c OK
	rm -rf r.log r.conf dump.rdb appendonlydir
}

c_nginx() {
	port=$(free_port)
	mkdir -p site logs tmp && echo page >site/index.html && head -c 4000000 /dev/zero >site/big && seq 9 >site/seq
	printf '%s\n' 'worker_processes 2; daemon on; pid n.pid; error_log logs/e.log;' 'events { worker_connections 64; }' \
		"http { access_log logs/a.log; client_body_temp_path tmp/a; proxy_temp_path tmp/b; \
fastcgi_temp_path tmp/c; uwsgi_temp_path tmp/d; scgi_temp_path tmp/e; sendfile on; gzip on; gzip_types *;" \
		"server { listen 127.0.0.1:$port; root $PWD/site; location /p/ { proxy_pass http://unix:$PWD/n.sock:/; } \
location /ls/ { alias $PWD/site/; autoindex on; } } server { listen unix:$PWD/n.sock; root $PWD/site; } }" >n.conf
	serve() { /usr/sbin/nginx -e logs/e.log -p "$PWD" -c n.conf "$@"; }
	serve -t -q && serve && u=http://127.0.0.1:$port && curl -s $u/ && curl -s $u/big | sha256sum &&
		curl -s $u/p/seq | tail -1 && curl -s --unix-socket n.sock http://x/ && curl -s -o out -w '%{http_code}\n' $u/none
	curl -s --compressed -r 0-3 $u/seq && echo && seq 30 |
		xargs -P 6 -I{} curl -s -o /dev/null -w '%{http_code}\n' "$u/big?{}" | sort | uniq -c && curl -s $u/ls/ | grep -c href
	echo changed >site/index.html && sed -i 's/gzip on;/gzip off; add_header X-A b;/' n.conf &&
		serve -s reload && until_true 10 sh -c "curl -sI $u/ | grep -q X-A" && curl -s $u/
	mv logs/a.log logs/old.log && serve -s reopen && until_true 10 test -e logs/a.log && curl -s $u/ &&
		pid=$(cat n.pid) && serve -s quit && until_true 10 test ! -e n.pid && until_true 10 sh -c "! kill -0 $pid"
	rm -rf logs n.conf n.sock
}

c_openssl() {
	openssl genrsa -out k.pem 2048 2>/dev/null && openssl rsa -in k.pem -pubout -out p.pem 2>/dev/null &&
		openssl req -x509 -new -key k.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 2 -out c.pem &&
		openssl x509 -in c.pem -noout -subject
	seq 1000 >data && openssl dgst -sha256 -sign k.pem -out s data &&
		openssl dgst -sha256 -verify p.pem -signature s data && openssl enc -aes-256-cbc -pbkdf2 -k word -in data -out e &&
		openssl enc -d -aes-256-cbc -pbkdf2 -k word -in e | cmp - data && openssl verify -CAfile c.pem c.pem
	port=$(free_port) && (openssl s_server -quiet -accept "127.0.0.1:$port" -key k.pem -cert c.pem -WWW >/dev/null 2>&1 &
		echo $! >pid) && until_true 10 curl -s --cacert c.pem "https://localhost:$port/data" &&
		curl -s --cacert c.pem "https://localhost:$port/data" | sha256sum
	curl -s "https://localhost:$port/data"
	echo $? && kill "$(cat pid)" && openssl rand -hex 16 | wc -c && openssl ecparam -genkey -name prime256v1 -noout |
		openssl pkey -text -noout | grep -c ASN1 && openssl pkcs12 -export -in c.pem -inkey k.pem -passout pass:x |
		openssl pkcs12 -passin pass:x -nokeys 2>/dev/null | grep -c BEGIN
	stat -c '%n %a' k.pem c.pem && rm -f k.pem p.pem c.pem s e pid
}

c_curl_transfers() {
	mkdir site && seq 50000 >site/f && echo index >site/index.html
	cat >s.py <<-'END'
		import http.server, os, sys
		class H(http.server.SimpleHTTPRequestHandler):
		    def log_message(self, *a): pass
		    def do_PUT(self):
		        open("put", "wb").write(self.rfile.read(int(self.headers["Content-Length"]))); self.send_response(201)
		        self.end_headers()
		    def do_POST(self):
		        b = self.rfile.read(int(self.headers["Content-Length"])); self.send_response(302)
		        self.send_header("Location", "/f"); self.send_header("Set-Cookie", "c=1"); self.end_headers()
		os.chdir("site"); s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
		open("../port", "w").write(f"{s.server_port}\n"); s.serve_forever()
	END
	python3 s.py &
	until_true 10 test -s port && u=http://127.0.0.1:$(cat port) &&
		curl -sO "$u/f" && cmp f site/f && curl -s -T f "$u/put" -w '%{http_code}\n' &&
		cmp f site/put && curl -sL -c jar -d x=y "$u/post" | tail -1 && grep -c '#HttpOnly\|c.1' jar
	curl -sI "$u/f" | grep -i length &&
		curl -s --no-progress-meter -Z "$u/f" "$u/index.html" -o a -o b && wc -l a b && curl -sf "$u/none"
	echo $? && curl -s --max-time 5 "$u/f" -R -o g && stat -c %s g && printf 'url = "%s/index.html"\n' "$u" | curl -sK - &&
		curl -s file://"$PWD"/b && curl -s --resolve "named:$(cat port):127.0.0.1" "http://named:$(cat port)/index.html"
	curl -s --retry 0 http://127.0.0.1:$(free_port)/
	echo $? && kill %1 && wait && rm -f port jar
}

c_ssh_keygen() {
	for t in ed25519 rsa ecdsa; do ssh-keygen -q -t $t -N '' -C me -f $t &&
		ssh-keygen -l -f $t | grep -oE '\(.*' && ssh-keygen -y -f $t | cut -d' ' -f1; done
	stat -c '%n %a' ./ed25519* &&
		ssh-keygen -q -p -P '' -N secret -f ed25519 && ssh-keygen -y -P wrong -f ed25519 2>&1 | sed 's/"[^"]*"/KEY/'
	ssh-keygen -q -p -P secret -N '' -f ed25519 && ssh-keygen -q -s rsa -I id -n me -V always:forever ed25519.pub &&
		ssh-keygen -L -f ed25519-cert.pub | grep -A1 Principals
	seq 9 >data && ssh-keygen -q -Y sign -f ed25519 -n file data && echo "me $(cat ed25519.pub)" >allowed &&
		ssh-keygen -Y verify -f allowed -I me -n file -s data.sig <data | sed 's/key .*/key/'
	echo 'host ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK0wmN/Cr3JXqmLW7u+g9pTh+wyqDHpSQEIQczXkVx9q' >known &&
		ssh-keygen -q -H -f known 2>&1 | tail -1 && ssh-keygen -F host -f known | grep -c found &&
		ssh-keygen -R host -f known 2>&1 | tail -1 | sed 's,/.*/,,' && ssh -V 2>&1 | cut -c1-7
	git init -q r && cd r && git config gpg.format ssh && git config user.signingkey "$PWD/../ed25519" &&
		git commit -q -S --allow-empty -m signed && sed -i 's/^me/tess@example.org/' ../allowed &&
		git -c gpg.ssh.allowedSignersFile=../allowed log --show-signature -1 --format=%G? | sed 's/key .*/key/'
	cd .. && rm -rf r ed25519* rsa* ecdsa* data.sig allowed known*
}

c_gpg_sign_and_verify() {
	export GNUPGHOME=$PWD/g
	mkdir -m 700 g && echo 'allow-loopback-pinentry' >g/gpg-agent.conf && seq 99 >data
	gpg --batch --quiet --passphrase '' --quick-gen-key 'Me <me@example.org>' ed25519 sign never 2>/dev/null
	echo $? && gpg --list-secret-keys --with-colons 2>/dev/null | grep -c ^sec && gpg --batch --quiet --armor \
		--detach-sign -o data.asc data && gpg --verify data.asc data 2>&1 | grep -oE 'Good signature from .*'
	fpr=$(gpg --list-keys --with-colons | awk -F: '/^fpr/ { print $10; exit }') &&
		gpg --batch --quiet --passphrase '' --quick-add-key "$fpr" cv25519 encr never &&
		gpg --batch --quiet --trust-model always -e -r me -o data.gpg data &&
		gpg --batch --quiet -d data.gpg 2>/dev/null | cmp - data && gpg --batch --quiet --clearsign -o c data &&
		echo tampered >>data && gpg --verify data.asc data 2>&1 | grep -oE 'BAD signature from .*'
	gpg --batch --quiet --pinentry-mode loopback --passphrase word -c -o sym data &&
		gpg --batch --quiet --pinentry-mode loopback --passphrase word -d sym | cmp - data &&
		gpg --export -a me | grep -c BEGIN && gpg --export | GNUPGHOME=$PWD/h gpg --homedir "$PWD/h" --import 2>&1 |
		head -1 | grep -o "can't create.*\|keybox.*" | sed "s,'/.*/,,"
	git init -q r && cd r && git config user.signingkey "$fpr" &&
		git commit -q -S --allow-empty -m signed && git verify-commit HEAD 2>&1 | grep -oE 'Good signature from .*'
	cd .. && ls -A g | sort && gpgconf --kill all && rm -rf g r h data.* c sym
}
