# needs: perl ruby php-cli php-sqlite3 lua5.4 tcl curl
# limit: 60
# Perl, Ruby, PHP, Lua and Tcl.

c_perl_processes() {
	cat >p.pl <<-'END'
		use strict; use warnings; use POSIX ":sys_wait_h"; use IPC::Open3; use Socket; use IO::Select;
		$| = 1;
		print `echo backticks; exit 3`, $? >> 8, "\n";
		print system("exit 4") >> 8, " ", system("true"), " ", system("nonesuch-program") , "\n";
		open(my $in, "-|", "printf", "%s|", "a", "b c") or die; print <$in>, "\n"; close $in;
		open(my $out, "|-", "tr a-z A-Z") or die; print $out "to a pipe\n"; close $out;
		open(my $fork, "-|") // die; if (!defined fileno $fork) { } my $pid = fork // die;
		if (!$pid) { $0 = "renamed"; exec "sh", "-c", "exit 9" } waitpid $pid, 0; print $? >> 8, "\n";
	END
	cat >q.pl <<-'END'
		use strict; use warnings; use POSIX; use IPC::Open3; use Socket; use Symbol "gensym";
		$| = 1;
		my $p = open3(my $w, my $r, my $e = gensym, "sh", "-c", "cat; echo err >&2"); print $w "in\n"; close $w;
		print <$r>, <$e>; waitpid $p, 0;
		socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die $!;
		if (!fork) { close $a; syswrite $b, "child"; POSIX::_exit(0) } close $b; sysread $a, my $got, 99; print "$got\n";
		wait;
		local $SIG{ALRM} = sub { die "alarm\n" }; eval { alarm 1; select undef, undef, undef, 5 }; print $@;
		local $SIG{CHLD} = sub { while ((my $k = waitpid -1, WNOHANG) > 0) { print "reaped ", $? >> 8, "\n" } };
		my $k = fork // die; exit 6 if !$k; select undef, undef, undef, 5;
		my ($rd, $wr) = POSIX::pipe; my $dup = dup2(1, 9); system "echo by nine >&9";
		print "$dup ", ttyname(0) // "no tty", "\n";
		kill TERM => my $s = fork || exec "sleep", 9; waitpid $s, 0; print $? & 127, "\n";
		exec { "sh" } "fancy-name", "-c", 'echo $0';
	END
	perl q.pl
	sed -i '/my \$fork/d' p.pl && perl p.pl 2>&1
}

c_perl_files() {
	cat >f.pl <<-'END'
		use strict; use warnings; use Fcntl ":flock", "SEEK_SET"; use File::Temp; use File::Find; use File::Path;
		use File::Copy; use SDBM_File; use Storable; use Cwd; use IO::File; use Time::HiRes "stat";
		make_path "a/b/c", { mode => 0711 }; open my $f, ">", "a/f" or die; print $f "one\ntwo\n"; close $f;
		open $f, "+<", "a/f"; flock $f, LOCK_EX or die; seek $f, 4, SEEK_SET; print $f "TWO"; truncate $f, 7; close $f;
		open $f, "a/f"; print <$f>, "\n"; close $f;
		copy "a/f", "a/g"; move "a/g", "a/b/g"; symlink "../f", "a/b/l" or die; link "a/f", "h" or die; rename "h", "i";
		chmod 0604, "i"; utime 1e9, 1e9, "i"; print join(" ", (CORE::stat "i")[2, 3, 7, 9]), "\n";
		find { no_chdir => 1, wanted => sub { print "$_\n" if -l } }, ".";
		print readlink("a/b/l"), " ", Cwd::abs_path("a/b/l") =~ /work.*/ ? $& : "?", "\n";
		print join(",", sort glob "a/*"), "\n";
		tie my %db, "SDBM_File", "db", O_RDWR | O_CREAT, 0640 or die; $db{"k$_"} = $_ for 1 .. 50;
		print scalar(keys %db), $db{k7}, "\n"; untie %db; store { a => [1] }, "st"; print retrieve("st")->{a}[0], "\n";
		my $t = File::Temp->new(DIR => "."); print $t "x"; print -e "$t" ? "temp\n" : "none\n";
		my $d = File::Temp->newdir; print -d "$d" ? "dir\n" : "none\n";
		for my $try (sub { open my $x, "<", "none" }, sub { mkdir "a" }, sub { rmdir "a" }, sub { unlink "a" },
		    sub { rename "none", "x" }, sub { open my $x, ">", "a" }, sub { symlink "x", "st" }) { $! = 0;
		$try->() or print "$!\n" }
		opendir my $dh, "a" or die; print join(" ", sort grep !/^\./, readdir $dh), "\n";
		{ local ($^I, @ARGV) = (".bak", "a/f"); while (<>) { s/one/ONE/; print } } rmtree "a/b";
		sysopen my $s, "sys", O_WRONLY | O_CREAT | O_EXCL, 0600 or die; syswrite $s, "raw"; print -s "sys", "\n";
		open my $mem, "<", \"in memory" or die; print <$mem>, "\n"; open my $dup, ">&", \*STDOUT; print $dup "dup\n";
		print `cat $0 | wc -l`;
	END
	sed -i '1s/use Fcntl/use Fcntl ":DEFAULT"; use Fcntl/' f.pl
	perl f.pl
	perl -pi.orig -e 's/use/USE/' f.pl &&
		ls && perl -MConfig -e 'print "$Config{d_fork}\n"' && perl -e 'print -t STDIN ? 1 : 0, "\n"; die "words\n"'
	echo $?
	printf 'use Test::More tests => 2; ok(1, "one"); is(`echo x`, "x\\n", "two");\n' >t.t &&
		prove -Q t.t | grep -v wallclock && perl -d -e 'print 1' </dev/null >/dev/null 2>&1
	echo $?
}

c_ruby_processes() {
	cat >r.rb <<-'END'
		require "open3"; require "socket"; require "pty"; require "timeout"; require "tempfile"
		$stdout.sync = true
		puts `echo backticks; exit 3`, $?.exitstatus, system("exit 4").inspect, system("nonesuch-program").inspect
		o, e, s = Open3.capture3("cat; echo err >&2; exit 2", stdin_data: "in"); p o, e, s.exitstatus
		IO.popen(["tr", "a-z", "A-Z"], "r+") { |io| io.write "popen"; io.close_write; puts io.read }
		IO.popen("-") { |io| io ? puts(io.read) : print("child of popen") }
		pid = fork { exit! 7 }; Process.wait pid; p $?.exitstatus
		r, w = IO.pipe; spawn("echo to fd", out: w, chdir: "/", unsetenv_others: true, umask: 0077); w.close; puts r.read;
		Process.waitall
		spawn("echo file", out: ["made", File::WRONLY | File::CREAT, 0640]); Process.wait; puts File.read("made")
		PTY.spawn("sh -c 'tty >/dev/null && echo a tty'") { |i, _, c| puts i.gets; Process.wait c }
		s = TCPServer.new("127.0.0.1", 0); t = Thread.new { c = s.accept; c.puts c.gets.upcase; c.close }
		c = TCPSocket.new("127.0.0.1", s.addr[1]); c.puts "over tcp"; puts c.read; t.join
		u = UNIXServer.new("u.sock"); t = Thread.new { u.accept.puts "over unix" }; puts UNIXSocket.new("u.sock").gets; t.join
		begin; Timeout.timeout(0.1) { sleep 5 }; rescue Timeout::Error => e; p e.class; end
		trap("USR1") { puts "usr1" }; Process.kill "USR1", $$; sleep 0.05
		p 20.times.map { |i| Thread.new { `echo #{i}`.to_i } }.sum(&:value)
		at_exit { puts "at exit" }; exec "sh", "-c", "echo exec $0", "zero"
	END
	ruby r.rb 2>&1
}

c_ruby_files_and_gem() {
	cat >f.rb <<-'END'
		require "fileutils"; require "tmpdir"; require "tempfile"; require "find"; require "pstore"; require "json";
		require "pathname"; require "digest"
		FileUtils.mkdir_p "a/b", mode: 0750; File.write "a/f", "text"; File.open("a/f", "a") { |f| f.flock File::LOCK_EX;
		    f.puts "more" }; File.chmod 0604, "a/f"
		File.symlink "f", "a/l"; File.link "a/f", "a/h"; FileUtils.cp_r "a", "c", preserve: true;
		FileUtils.mv "c/f", "c/g"; File.rename "c/g", "c/b/g"; FileUtils.ln_sf "elsewhere", "c/l"
		p Dir.glob("**/*").sort, File.stat("a/f").mode.to_s(8), File.stat("a/f").nlink, File.readlink("c/l"),
		    Dir.children("a").sort, File.realpath("a/l")[-3..]
		Dir.mktmpdir { |d| File.write d + "/x", "1"; p Dir.entries(d).size }; Tempfile.create("t") { |t| t.write "x";
		    p File.basename(t.path)[0] }
		s = PStore.new("store"); s.transaction { s[:a] = [1, 2] }; s.transaction(true) { p s[:a] }
		[-> { File.read "none" }, -> { Dir.mkdir "a" }, -> { Dir.rmdir "a" }, -> { File.rename "none", "x" },
		    -> { File.open "a", "w" }, -> { File.symlink "x", "store" }].each { |l| begin; l.call;
		rescue SystemCallError => e; puts e.message.sub(/@.*? - /, ""); end }
		File.utime 1, 2, "a/f"; p File.mtime("a/f").to_i; FileUtils.rm_r "c"; IO.copy_stream "a/f", "copied";
		p Digest::MD5.file("copied").hexdigest, IO.readlines("a/f"); File.truncate "copied", 2; FileUtils.touch "t";
		FileUtils.install "t", "u", mode: 0711
	END
	ruby f.rb
	mkdir -p g/lib g/bin && echo 'module Hi; def self.hi; "hi from a gem"; end; end' >g/lib/hi.rb &&
		printf '#!/usr/bin/env ruby\nrequire "hi"; puts Hi.hi\n' >g/bin/hi && chmod +x g/bin/hi
	echo \
		'Gem::Specification.new { |s| s.name = "hi";
			s.version = "1.0"; s.summary = s.author = "x"; s.files = Dir["lib/*", "bin/*"]; s.executables = ["hi"] }' \
		>g/hi.gemspec
	(cd g && gem build -q hi.gemspec 2>/dev/null | head -1)
	export GEM_HOME=$PWD/gems && gem install -q --local --no-document g/hi-1.0.gem && gems/bin/hi && gem list --local hi
	ruby -rhi -e 'puts Hi.hi' && ruby -e 'raise "words"' 2>&1
	printf 'require "minitest/autorun"\nclass T < Minitest::Test; def test_a = assert_equal(1, 1); end\n' >t.rb &&
		ruby t.rb 2>/dev/null | grep ' runs,'
	rm -rf gems g/*.gem && echo 'p gets' >i.rb && echo line | ruby i.rb
}

c_php_cli() {
	cat >p.php <<-'END'
		<?php
		umask(027); mkdir("a/b", 0777, true); file_put_contents("a/f", "text");
		file_put_contents("a/f", "+more", FILE_APPEND | LOCK_EX);
		symlink("f", "a/l"); link("a/f", "a/h"); rename("a/h", "a/b/h"); copy("a/f", "c"); chmod("c", 0604);
		touch("c", 1000000000); echo file_get_contents("a/l"), decoct(fileperms("c")), filemtime("c"), readlink("a/l"), "\n";
		print_r(scandir("a")); print_r(glob("a/*")); echo basename(tempnam(".", "tmp")) != "", substr(realpath("a/l"),
		    -4), "\n";
		$it = new RecursiveIteratorIterator(new RecursiveDirectoryIterator("a", FilesystemIterator::SKIP_DOTS)); $n = [];
		foreach ($it as $f) $n[] = $f->getPathname(); sort($n); echo join(" ", $n), "\n";
		foreach (["none", "a"] as $w) var_dump(@file_get_contents($w), error_get_last()["message"] ?? null);
		var_dump(@mkdir("a"), error_get_last()["message"], @rmdir("a"), error_get_last()["message"], @unlink("none"));
		echo shell_exec("echo shell"), exec("echo a; echo b", $o, $rc), $rc, count($o), "\n";
		passthru("echo pass; exit 3", $rc); echo $rc, system("echo sys"), "\n";
		$p = proc_open(["sh", "-c", "cat; echo err >&2; exit 5"], [["pipe", "r"], ["pipe", "w"], ["pipe", "w"]], $pipes,
		    "/"); fwrite($pipes[0], "in\n"); fclose($pipes[0]);
		echo stream_get_contents($pipes[1]), stream_get_contents($pipes[2]), proc_close($p), "\n";
		$h = popen("tr a-z A-Z", "w"); fwrite($h, "popen\n"); pclose($h); $t = tmpfile(); fwrite($t, "x");
		echo ftell($t), "\n";
		$db = new PDO("sqlite:d.sqlite"); $db->exec("create table t(a); insert into t values (1),(2)");
		echo $db->query("select sum(a) from t")->fetchColumn(), "\n"; $s = new SQLite3("e.sqlite");
		$s->exec("pragma journal_mode=wal; create table x(y)"); echo $s->querySingle("select count(*) from x"), "\n";
		$s->close();
		if (function_exists("pcntl_fork")) { $k = pcntl_fork(); if (!$k) exit(6); pcntl_waitpid($k, $st);
		    echo pcntl_wexitstatus($st), "\n"; }
		$s = stream_socket_server("tcp://127.0.0.1:0");
		$c = stream_socket_client("tcp://" . stream_socket_get_name($s, false)); $a = stream_socket_accept($s);
		fwrite($a, "tcp\n"); echo fgets($c);
		$z = gzopen("z.gz", "w"); gzwrite($z, str_repeat("x", 9999)); gzclose($z);
		echo strlen(join(gzfile("z.gz"))), "\n"; unlink("z.gz"); array_map("unlink", glob("*.sqlite*"));
		array_map("unlink", glob("tmp*")); exit(7);
	END
	php p.php
	echo $?
	php -r 'echo PHP_OS, "\n"; require "none.php";' 2>&1
	echo '<?php echo ini_get("memory_limit"), $argc, fgets(STDIN);' >i.php &&
		echo line | php -d memory_limit=64M i.php a b && php -l i.php
}

c_php_server() {
	mkdir site && echo \
		'<?php header("X-A: b");
			echo $_GET["q"] ?? "none", " ", $_SERVER["REQUEST_METHOD"], file_put_contents("hits", "x", FILE_APPEND);' \
		>site/index.php && echo static >site/f.txt
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	(cd site && exec php -S 127.0.0.1:$port >../log 2>&1) &
	until_true 10 curl -s http://127.0.0.1:$port/f.txt
	curl -s "http://127.0.0.1:$port/?q=word" && echo && curl -s -d x=1 http://127.0.0.1:$port/ &&
		curl -s http://127.0.0.1:$port/f.txt http://localhost:$port/f.txt -o out -w '%{http_code}\n'
	kill $! && wait $!
	echo $? && wc -c site/hits && rm log
}

c_lua_and_tcl() {
	cat >l.lua <<-'END'
		local f = assert(io.open("f", "w")); f:write("one\ntwo\n"); f:close()
		for l in io.lines("f") do io.write(l, "|") end print()
		local p = io.popen("cat f; exit 3"); print(p:read("a"), p:close()); print(os.execute("exit 4"));
		print(os.rename("f", "g"), os.remove("none")); print(io.open("none/x", "w"))
		local t = io.tmpfile(); t:write("x"); t:seek("set"); print(t:read("a")); local n = os.tmpname();
		print(os.remove(n)); local w = io.popen("tr a-z A-Z", "w"); w:write("down\n"); w:close();
		print(pcall(dofile, "none.lua")); print(os.getenv("NONE"), package.searchpath("x", "./?.lua"))
		local a = io.open("a", "a+"); a:setvbuf("line"); a:write("app"); a:seek("set"); print(a:read(2)); os.exit(5)
	END
	lua5.4 l.lua
	echo $?
	cat >t.tcl <<-'END'
		set f [open f.txt w 0640]; puts $f "from tcl"; close $f; file mkdir d/e; file copy f.txt d/e/g;
		file rename d/e/g d/h; file link -symbolic d/l h; file attributes d/h -permissions 0604
		puts [lsort [glob d/*]]; puts [file readlink d/l]; puts [exec echo exec | tr a-z A-Z];
		catch {exec sh -c "exit 3"} m o; puts "$m [dict get $o -errorcode]" ;
		puts [lindex [list [catch {open none/x} e] $e] 1]
		set p [open "|cat" r+]; puts $p "piped"; flush $p; puts [gets $p]; close $p; file tempfile name;
		puts [file exists $name]; file delete $name; file delete -force d; cd /; puts [pwd]
		set s [socket -server {apply {{c a p} {puts $c "tcp"; close $c; }}} -myaddr 127.0.0.1 0];
		set c [socket -async 127.0.0.1 [lindex [fconfigure $s -sockname] 2]]; fileevent $c readable {puts [gets $c];
		    set done 1}; vwait done
	END
	tclsh t.tcl | sed 's/CHILDSTATUS [0-9]*/CHILDSTATUS/'
}
