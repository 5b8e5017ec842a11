# needs: default-jdk-headless unzip golang-go rustc cargo make gcc libc6-dev
# limit: 90
# Java, Go, Rust, and the make of a real small project.

c_java_compile_and_files() {
	mkdir -p src/app && cat >src/app/Main.java <<-'END'
		package app;
		import java.io.*; import java.net.*; import java.nio.channels.*; import java.nio.file.*;
		import java.nio.file.attribute.*; import java.util.*; import java.util.concurrent.*; import java.util.stream.*;
		import java.nio.*;
		public class Main {
		    record Pair(int a, String b) {}
		    public static void main(String[] args) throws Exception {
		        Path d = Files.createDirectories(Path.of("a/b")); Files.writeString(d.resolve("f"), "text");
		        Files.createSymbolicLink(Path.of("a/l"), Path.of("b/f")); Files.createLink(Path.of("a/h"), d.resolve("f"));
		        Files.move(d.resolve("f"), d.resolve("g"), StandardCopyOption.ATOMIC_MOVE);
		        Files.copy(d.resolve("g"), Path.of("copy"), StandardCopyOption.COPY_ATTRIBUTES);
		        Files.setPosixFilePermissions(Path.of("copy"), PosixFilePermissions.fromString("rwx---r--"));
		        try (Stream<Path> s = Files.walk(Path.of("a"))) {
		            System.out.println(s.map(Path::toString).sorted().toList()); }
		        for (Callable<?> c : List.<Callable<?>>of(() -> Files.readString(Path.of("none")),
		            () -> Files.createDirectory(Path.of("a")), () -> { Files.delete(Path.of("a"));
		            return 1; }, () -> new FileInputStream("a"), () -> new FileOutputStream("none/x"),
		            () -> Files.newByteChannel(Path.of("copy"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)))
		            try { c.call(); } catch (IOException e) { System.out.println(e); }
		        try (RandomAccessFile r = new RandomAccessFile("ra", "rw"); FileChannel ch = r.getChannel();
		            FileLock l = ch.lock()) { MappedByteBuffer m = ch.map(FileChannel.MapMode.READ_WRITE, 0, 4096);
		        m.put("mapped".getBytes()); m.force(); r.seek(0);
		        System.out.println((char) r.read() + " " + l.isValid() + " " + r.length()); }
		        Path t = Files.createTempFile("x", ".t"); Files.write(t, List.of("1", "2"));
		        System.out.println(Files.lines(t).count()); Files.delete(t); File tf = File.createTempFile("y", null);
		        System.out.println(tf.delete());
		        Process p = new ProcessBuilder("sh", "-c",
		            "cat; echo err >&2; exit 3").redirectErrorStream(true).directory(new File("a")).start();
		        p.getOutputStream().write("in\n".getBytes()); p.getOutputStream().close();
		        System.out.print(new String(p.getInputStream().readAllBytes())); System.out.println(p.waitFor());
		        System.out.println(new ProcessBuilder("sh", "-c",
		            "echo inherit; echo $0 to file >&2").inheritIO().redirectError(new File("err")).start().waitFor());
		        System.out.print(Files.readString(Path.of("err")));
		        System.out.println(Runtime.getRuntime().exec(new String[] {"sleep", "9"}).destroyForcibly().waitFor());
		        try { new ProcessBuilder("nonesuch").start(); } catch (IOException e) { System.out.println(e.getMessage()); }
		        ExecutorService ex = Executors.newFixedThreadPool(6); List<Future<Integer>> fs = new ArrayList<>();
		        for (int i = 0; i < 60; i++) { int n = i;
		            fs.add(ex.submit(() -> { Path q = Path.of("t" + n); Files.writeString(q, "x".repeat(n));
		            int k = Files.readString(q).length(); Files.delete(q); return k; })); } int sum = 0;
		        for (var f : fs) sum += f.get(); ex.shutdown(); System.out.println(sum + " " + new Pair(1, "b"));
		        WatchService w = FileSystems.getDefault().newWatchService();
		        d.register(w, StandardWatchEventKinds.ENTRY_CREATE); Files.createFile(d.resolve("seen"));
		        System.out.println(w.poll(10, TimeUnit.SECONDS).pollEvents().get(0).context());
		        try (ServerSocket s = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
		            Thread v = new Thread(() -> { try (Socket c = s.accept()) {
		            c.getOutputStream().write("tcp".getBytes()); } catch (IOException e) { System.out.println(e); } });
		        v.start(); try (Socket c = new Socket("127.0.0.1", s.getLocalPort())) {
		            System.out.println(new String(c.getInputStream().readAllBytes())); } v.join(); }
		        try (ServerSocketChannel s = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
		            var at = UnixDomainSocketAddress.of("u.sock"); s.bind(at);
		        try (SocketChannel c = SocketChannel.open(at)) { System.out.println(c.isConnected()); } }
		        Files.delete(Path.of("u.sock")); System.exit(4);
		    }
		}
	END
	javac -d out src/app/Main.java && java -XX:-UsePerfData -cp out app.Main
	echo $?
	printf 'Main-Class: app.Main\n' >m && jar cfm app.jar m -C out . && unzip -l app.jar | grep -c class && rm app.jar
	echo 'class S { public static void main(String[] a) { System.out.println("one file " + a[0]); } }' >S.java &&
		java -XX:-UsePerfData S.java word
	echo 'class B { int x = "s"; }' >B.java && javac B.java
	echo $?
}

p_go_build_and_test() { go_cache; }
# The standard library is compiled once.
go_cache() {
	export CGO_ENABLED=0 GOCACHE=$PWD/.gocache \
		GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GO111MODULE=on GOTELEMETRY=off
	go_module && go build -o app . && go vet . && go test ./... && rm -r app go.mod ./*.go lib
}
go_module() {
	mkdir lib && printf 'module example.org/app\n\ngo 1.19\n' >go.mod
	printf '%s\n' 'package lib' 'func Double(x int) int { return 2 * x }' >lib/l.go
	printf '%s\n' 'package lib' 'import ("testing"; "os"; "path/filepath")' \
		'func TestDouble(t *testing.T) { if Double(2) != 4 { t.Fatal("no") };
			if e := os.WriteFile(filepath.Join(t.TempDir(), "x"), nil, 0o600); e != nil { t.Fatal(e) } }' \
		'func BenchmarkDouble(b *testing.B) { for i := 0; i < b.N; i++ { Double(i) } }' >lib/l_test.go
	cat >main.go <<-'END'
		package main
		import ("errors"; "fmt"; "io/fs"; "io"; "net"; "os"; "os/exec"; "path/filepath"; "strings"; "sync"; "syscall";
		    "example.org/app/lib")
		func main() {
		    os.MkdirAll("a/b", 0o750); os.WriteFile("a/f", []byte("text"), 0o640); os.Symlink("f", "a/l");
		    os.Link("a/f", "a/h"); os.Rename("a/h", "a/b/h"); os.Chmod("a/b/h", 0o604)
		    filepath.WalkDir("a", func(p string, d fs.DirEntry, e error) error { fmt.Println(p, d.Type()); return e })
		    for _, e := range []error{os.Mkdir("a", 0o700), os.Remove("a"), os.Rename("none", "x"),
		        os.Symlink("x", "a/l"), os.Chdir("a/f")} { fmt.Println(e) }
		    _, e := os.Open("none"); fmt.Println(e, errors.Is(e, fs.ErrNotExist))
		    out, e := exec.Command("sh", "-c", "cat; exit 3").Output(); fmt.Println(string(out), e)
		    c := exec.Command("tr", "a-z", "A-Z"); c.Stdin = strings.NewReader("piped\n"); c.Stdout = os.Stdout;
		    fmt.Println(c.Run()); _, e = exec.LookPath("nonesuch"); fmt.Println(e)
		    var wg sync.WaitGroup; for i := 0; i < 40; i++ { wg.Add(1); go func(i int) { defer wg.Done();
		        n := fmt.Sprint("t", i); os.WriteFile(n, make([]byte, i), 0o600); os.Remove(n) }(i) }; wg.Wait()
		    l, e := net.Listen("tcp", "127.0.0.1:0"); fmt.Println(e); go func() { c, _ := l.Accept(); io.Copy(c, c);
		        c.Close() }(); r, e := net.Dial("tcp", l.Addr().String()); r.Write([]byte("echo"));
		    r.(*net.TCPConn).CloseWrite(); b, _ := io.ReadAll(r); fmt.Println(string(b), e)
		    u, e := net.Listen("unix", "u.sock"); go func() { c, _ := u.Accept(); c.Write([]byte("unix")); c.Close() }();
		    k, e := net.Dial("unix", "u.sock"); b, _ = io.ReadAll(k); fmt.Println(string(b), e); u.Close()
		    f, _ := os.CreateTemp(".", "t"); syscall.Flock(int(f.Fd()), syscall.LOCK_EX); f.Truncate(10);
		    s, _ := f.Stat(); fmt.Println(s.Size(), s.Mode()); os.Remove(f.Name()); fmt.Println(lib.Double(21));
		    os.RemoveAll("a/b"); os.Exit(5)
		}
	END
}
c_go_build_and_test() {
	export CGO_ENABLED=0 GOCACHE=$PWD/.gocache GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GO111MODULE=on
	go_module
	go build -o app . && ./app
	echo $? && go vet . && go test ./... 2>&1 | sed 's/\t[0-9.]*s$//;s/\t(cached)//' && go run . >/dev/null
	echo $? && gofmt -l . | sort && go list ./... && echo 'func' >>main.go && go build . 2>&1
	echo $? && chmod -R u+w .gocache && rm -rf .gocache app
}

c_rust_cargo() {
	export CARGO_HOME=$PWD/.cargo
	cargo init -q --vcs none --name app . && cat >src/main.rs <<-'END'
		use std::{fs, io::{Read, Write}, net::{TcpListener, TcpStream},
		    os::unix::{fs::{symlink, PermissionsExt, OpenOptionsExt}, net::{UnixListener, UnixStream},
		    process::ExitStatusExt}, process::{Command, Stdio}, thread};
		fn main() {
		    fs::create_dir_all("a/b").unwrap(); fs::write("a/f", "text").unwrap(); symlink("f", "a/l").unwrap();
		    fs::hard_link("a/f", "a/h").unwrap(); fs::rename("a/h", "a/b/h").unwrap(); fs::copy("a/f", "c").unwrap();
		    fs::set_permissions("c", fs::Permissions::from_mode(0o604)).unwrap();
		    println!("{:?} {:?}", fs::read_to_string("a/l"), fs::canonicalize("a/l").unwrap().file_name());
		    for e in [fs::create_dir("a").err(), fs::remove_dir("a").err(), fs::remove_file("none").err(),
		        fs::File::open("none").err(), fs::rename("none", "x").err(), fs::File::create("a").err()] {
		        println!("{:?}", e) }
		    fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open("n").unwrap().write_all(b"x").unwrap();
		    let o = Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]).env("V",
		        "1").current_dir("a").output().unwrap(); println!("{:?}", o);
		    let mut k = Command::new("tr").args(["a-z",
		        "A-Z"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
		    k.stdin.take().unwrap().write_all(b"piped").unwrap();
		    println!("{:?}", String::from_utf8(k.wait_with_output().unwrap().stdout));
		    let mut s = Command::new("sleep").arg("9").spawn().unwrap(); s.kill().unwrap();
		    println!("{:?} {:?}", s.wait().unwrap().signal(), Command::new("nonesuch").spawn().err());
		    let ts: Vec<_> = (0..8).map(|i| thread::spawn(move || { for j in 0..20 { let n = format!("t{i}-{j}");
		        fs::write(&n, vec![0; j]).unwrap(); fs::remove_file(n).unwrap() } })).collect();
		    for t in ts { t.join().unwrap() }
		    let l = TcpListener::bind("127.0.0.1:0").unwrap(); let at = l.local_addr().unwrap();
		    let t = thread::spawn(move || l.accept().unwrap().0.write_all(b"tcp").unwrap()); let mut g = String::new();
		    TcpStream::connect(at).unwrap().read_to_string(&mut g).unwrap(); t.join().unwrap(); println!("{g}");
		    let u = UnixListener::bind("u.sock").unwrap(); UnixStream::connect("u.sock").unwrap(); drop(u);
		    fs::remove_file("u.sock").unwrap(); fs::remove_dir_all("a/b").unwrap();
		    let mut d: Vec<_> = fs::read_dir("a").unwrap().map(|e| e.unwrap().file_name()).collect(); d.sort();
		    println!("{d:?}"); std::process::exit(6)
		}
		#[test]
		fn works() { std::fs::write("by-test", "x").unwrap(); assert_eq!(2 + 2, 4) }
	END
	cargo build -q --offline && target/debug/app
	echo $? && cargo test -q --offline 2>&1 | grep -v finished && cargo run -q --offline >/dev/null 2>&1
	rm -rf c n && echo 'fn main() { println!("plain {}", 1 + 1) }' >r.rs &&
		rustc -O r.rs && ./r && echo 'fn main() { let x: i32 = ""; }' | rustc - 2>&1 | head -1
	rm -rf target r .cargo
}

# A project of the usual shape: generated sources, a library, a program, tests, install, dist.
c_make_a_project() {
	mkdir src && for i in $(seq 30); do
		printf '#include "all.h"\nint f%d(int x) { return x * %d + (int)sizeof(struct s); }\n' $i $i >src/f$i.c
	done
	{ echo 'struct s { int a[4]; };' && for i in $(seq 30); do echo "int f$i(int);"; done; } >src/all.h
	{ printf '#include <stdio.h>\n#include "all.h"\nint main(void)\n{\n\tint n = 0;\n' && for i in $(seq 30); do
			echo "	n += f$i($i);"
	done && printf '\tprintf("%%d\\n", n);\n\treturn 0;\n}\n'; } >src/main.c
	cat >Makefile <<-'END'
		SRC := $(filter-out src/main.c,$(wildcard src/*.c))
		OBJ := $(SRC:src/%.c=build/%.o)
		CFLAGS := -O1 -g0 -Wall -Isrc -MMD -MP -fPIC
		all: build/prog build/libf.so version.h
		build/%.o: src/%.c | build
			$(CC) $(CFLAGS) -c -o $@ $<
		build:
			mkdir -p $@
		build/libf.a: $(OBJ)
			$(AR) rcD $@ $^
		build/libf.so: $(OBJ)
			$(CC) -shared -Wl,--build-id=none -o $@ $^
		build/prog: build/main.o build/libf.a
			$(CC) -Wl,--build-id=none -o $@ $^
		version.h: ; echo '#define V "$(shell echo 1.2)"' >$@.tmp && mv $@.tmp $@
		check: all ; test "$$(build/prog)" = 10055 || { build/prog; false; }
		install: all
			install -D -m 755 build/prog $(DESTDIR)/usr/bin/prog && \
			install -D -m 644 build/libf.so $(DESTDIR)/usr/lib/libf.so.1 && ln -sf libf.so.1 $(DESTDIR)/usr/lib/libf.so
		sub: ; +$(MAKE) -C . -j4 clean && $(MAKE) all
		clean: ; rm -rf build version.h
		-include $(wildcard build/*.d)
	END
	make -j4 >log && sort log | sha256sum && build/prog && make -j2 && make -q
	echo $? && touch src/f3.c && make -n | grep -c -- ' -c ' &&
		make -j3 sub >/dev/null && make install DESTDIR="$PWD/root" && make none
	echo $? && make -s check
	echo $? && LD_LIBRARY_PATH=root/usr/lib ldd build/prog | wc -l &&
		gcc -o linked src/main.c -Isrc -Lroot/usr/lib -lf -Wl,--build-id=none && LD_LIBRARY_PATH=root/usr/lib ./linked
	nm -D --defined-only build/libf.so | wc -l &&
		objdump -d build/prog | grep -c call && strip build/prog && tar cf - --sort=name --mtime=@0 root | sha256sum
}
