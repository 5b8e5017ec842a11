# needs: gcc g++ clang make cmake ninja-build autoconf automake libtool m4 binutils gdb strace ccache
# needs: bison flex pkg-config file
# limit: 120
# Compilers, linkers, and what drives them.

# A small project in C: project FILES
project() {
	mkdir -p src include
	local i
	for i in $(seq "$1"); do
		printf '#include <stdio.h>\n#include "all.h"\nint f%d(int x) { return printf("%d ") + x; }\n' "$i" "$i" >"src/f$i.c"
		echo "int f$i(int);"
	done >include/all.h
	{ echo '#include "all.h"' && echo 'int main(void) { int s = 0;' &&
		for i in $(seq "$1"); do echo "s += f$i($i);"; done && echo 'return s % 100; }'; } >src/main.c
}

c_gcc() {
	project 3
	gcc -Iinclude -o prog src/*.c && ./prog
	echo " $?"
	gcc -c -O2 -g -Iinclude -fPIC src/f1.c src/f2.c && gcc -shared -Wl,-soname,libf.so.1 -o libf.so.1 f1.o f2.o &&
		ln -s libf.so.1 libf.so && gcc -Iinclude -o dyn src/main.c src/f3.c -L. -lf -Wl,-rpath,"\$ORIGIN" && ./dyn
	echo " $?"
	LD_LIBRARY_PATH=. ldd dyn | grep -c libf && ar rcs libs.a f1.o f2.o &&
		ranlib libs.a && nm libs.a | grep -c ' T ' && gcc -static -Iinclude -o stat src/*.c &&
		file stat | grep -o 'statically linked' && strip -o stripped prog && ./stripped | wc -w &&
		objcopy --only-keep-debug dyn dyn.debug && size prog | wc -l && readelf -d dyn | grep -o 'libf.so.1' &&
		objdump -d f1.o | grep -c call && strings prog | grep -c GLIBC && addr2line -e f1.o 0 | grep -o 'f1.c:.*'
	gcc -E src/f1.c -Iinclude | tail -1 && gcc -S -o - -Iinclude src/f1.c | grep -c call &&
		gcc -M -Iinclude src/f1.c | head -1 && gcc -pipe -save-temps -c -Iinclude src/f3.c && ls &&
		gcc -flto -O2 -Iinclude -o lto src/*.c && ./lto | wc -c && gcc -x c - -o in <<<'int main(){return 7;}' && ./in
	echo $?
	gcc -Iinclude src/nosuch.c
	gcc -c -x c - -o bad.o <<<'int main( { }'
	gcc -o nolink -x c - <<<'int f(); int main(){ return f(); }' 2>&1 | grep -c undefined
	gcc -print-search-dirs | wc -l && gcc -fsyntax-only -Wall -Iinclude src/main.c && gcov --version | wc -l | grep -c . &&
		gcc --coverage -Iinclude -o cov src/*.c && ./cov >/dev/null; gcov -n cov-f1.gcda 2>/dev/null | head -2; rm cov*
}

c_gxx_and_clang() {
	cat >a.cc <<-'END'
		#include <algorithm>
		#include <filesystem>
		#include <fstream>
		#include <iostream>
		#include <string>
		#include <thread>
		#include <vector>
		namespace fs = std::filesystem;
		int main()
		{
			fs::create_directories("d/e/f");
			std::ofstream("d/e/x") << "text\n";
			fs::copy("d", "copy", fs::copy_options::recursive);
			fs::rename("copy/e/x", "copy/y");
			fs::create_symlink("y", "copy/l");
			fs::permissions("copy/y", fs::perms::owner_read);
			fs::resize_file("d/e/x", 2);
			std::vector<std::string> names;
			for (auto &e : fs::recursive_directory_iterator("copy")) names.push_back(e.path());
			std::sort(names.begin(), names.end());
			for (auto &n : names) std::cout << n << ' ' << fs::is_symlink(n) << '\n';
			std::vector<std::thread> ts;
			for (int i = 0; i < 4; i++) ts.emplace_back([i] { std::ofstream("t" + std::to_string(i)) << i; });
			for (auto &t : ts) t.join();
			try { fs::remove("d/e"); } catch (fs::filesystem_error &e) { std::cout << e.code() << '\n'; }
			std::cout << fs::remove_all("d") << fs::exists("d") << fs::hard_link_count("t0") << std::endl;
			try { std::ifstream f; f.exceptions(std::ios::failbit); f.open("nosuch"); }
			catch (std::exception &e) { std::cout << "threw\n"; }
		}
	END
	g++ -std=c++17 -O1 -pthread -o a a.cc && ./a
	echo $?
	rm -rf copy t? a
	clang++ -std=c++17 -pthread -o b a.cc && ./b && rm -rf copy t?
	clang -x c -O2 -o c - <<<'#include <stdio.h>
int main(void) { puts("clang"); return 3; }' && ./c
	echo $?
	clang -c -emit-llvm -x c -o x.bc - <<<'int f(void) { return 1; }' && file -b x.bc | cut -c1-7 &&
		clang -fsyntax-only -x c - <<<'int f( {' 2>&1 | tail -1 && clang -E -x c - <<<'__clang_major__' | tail -1 && clang \
		-fsanitize=address,undefined -x c -g -o san - <<<'int main(int n, char **v) { int a[2] = {0}; return a[n]; }' && ./san
	echo $?
	rm b c san x.bc
}

c_make() {
	project 40
	cat >Makefile <<-'END'
		OBJ := $(patsubst src/%.c,obj/%.o,$(sort $(wildcard src/*.c)))
		prog: $(OBJ)
			@gcc -o $@ $^
		obj/%.o: src/%.c include/all.h | obj
			@gcc -O0 -Iinclude -MMD -c -o $@ $<
		obj: ; @mkdir -p $@
		sub: ; @$(MAKE) --no-print-directory -C inner all
		shell: ; @echo $(shell pwd | sed 's|.*/||') $(words $(OBJ)); \
			for i in 1 2; do echo $$i; done; test -n "$(MAKEFLAGS)" || echo no flags
		fails: ; @exit 3
		ignores: ; -@exit 4
		silent: ; @touch $@ && sleep 0.05
		clean: ; @rm -rf obj prog
		-include $(OBJ:.o=.d)
		.PHONY: sub shell fails ignores clean
	END
	mkdir inner && printf 'all: a b c d\na b c d: ; @sleep 0.05; echo $@ >$@\n' >inner/Makefile
	make -j2 && ./prog | wc -w && make -j2 && touch include/all.h && make -q
	echo $?
	make -j4 sub && cat inner/? && make shell && make ignores && make -k fails shell
	echo $?
	make clean && make -j4 -Otarget prog && ./prog | cksum &&
		make -n clean && make -s -B silent && make -p -n nothing 2>/dev/null | grep -c '^OBJ' && make nosuch
	echo $?
	make -j -l 8 -C inner -B >/dev/null && MAKEFLAGS=-j2 make -B -C inner >/dev/null &&
		make -f - <<<'all: ; @echo from stdin' && make --version | head -1 | wc -w
	rm -r obj prog
}

c_cmake_and_ninja() {
	project 6
	cat >CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.20)
		project(p C CXX)
		include(CheckFunctionExists)
		check_function_exists(openat HAVE_OPENAT)
		file(GLOB SRC src/f*.c)
		add_library(f SHARED ${SRC})
		target_include_directories(f PUBLIC include)
		add_executable(prog src/main.c)
		target_link_libraries(prog f)
		configure_file(in.h.in out.h)
		add_custom_command(OUTPUT gen.txt COMMAND ${CMAKE_COMMAND} -E echo generated > gen.txt)
		add_custom_target(gen ALL DEPENDS gen.txt)
		install(TARGETS prog f)
		install(DIRECTORY include/ DESTINATION include)
		enable_testing()
		add_test(NAME runs COMMAND sh -c "$<TARGET_FILE:prog>; exit 0")
	END
	echo '#define HAVE_OPENAT @HAVE_OPENAT@' >in.h.in
	cmake -S . -B n -G Ninja >log && tail -1 log | sed 's/:.*//' &&
		ninja -C n | tail -1 | sed 's/.*\]//' && cat n/out.h n/gen.txt && ./n/prog | wc -w &&
		ninja -C n | tail -1 && touch src/f1.c && ninja -C n -n | wc -l && (cd n && ctest -Q; echo $?) &&
		cmake --install n --prefix "$PWD/inst" >/dev/null && find inst | sort && inst/bin/prog >/dev/null 2>&1
	ninja -C n -t clean | tail -1 && ninja -C n -j4 prog >/dev/null && ninja -C n nosuch 2>&1 | tail -1
	cmake -S . -B m -DCMAKE_BUILD_TYPE=Release >/dev/null &&
		cmake --build m -j2 >/dev/null && ./m/prog | wc -w && cmake -E sha256sum in.h.in &&
		cmake -E tar cf x.tar src && cmake -E copy_directory src src2 && cmake -E create_symlink src2 l &&
		cmake -P <(echo 'message(STATUS script)') && cmake -E time true | wc -l && cmake -E cat nosuch
	rm -rf n m x.tar log inst
}

p_autotools() {
	cat >configure.ac <<-'END'
		AC_INIT([p],[1.0])
		AM_INIT_AUTOMAKE([foreign])
		AC_PROG_CC
		AM_PROG_AR
		LT_INIT
		AC_CHECK_FUNCS([openat posix_spawn nosuchfn])
		AC_CONFIG_HEADERS([config.h])
		AC_CONFIG_FILES([Makefile])
		AC_OUTPUT
	END
	cat >Makefile.am <<-'END'
		lib_LTLIBRARIES = libf.la
		libf_la_SOURCES = f.c
		bin_PROGRAMS = p
		p_SOURCES = m.c
		p_LDADD = libf.la
		TESTS = p
	END
	echo 'int f(void) { return 0; }' >f.c && echo 'int f(void); int main(void) { return f(); }' >m.c
}
c_autotools() {
	autoreconf -i >/dev/null 2>&1 && ./configure -q --prefix="$PWD/inst" && make -s -j2 >/dev/null 2>&1 && ./p &&
		grep -c HAVE_OPENAT config.h && make -s check 2>&1 | grep '^# PASS' && make -s install >/dev/null 2>&1 &&
		find inst | sort && inst/bin/p && make -s dist >/dev/null && tar tzf p-1.0.tar.gz | sort | tail -3 &&
		make -s uninstall >/dev/null && find inst -type f && make -s distclean
	echo 'changequote([,])define([x],[y])x' | m4 && printf \
		'%%%%\n[0-9]+ printf("<%%s>", yytext);\n%%%%\nint yywrap(void){return 1;}int main(void){return yylex();}' >l.l &&
		flex l.l && gcc -o l lex.yy.c && echo 'a 12 b 3' | ./l && printf \
		'%%{\nint yylex(void){return 0;}void yyerror(const char*s){(void)s;}\n%%}
%%%%\ns: ;\n%%%%\nint main(void){return yyparse();}' \
		>y.y && bison y.y && gcc -o y y.tab.c && ./y && pkg-config --modversion nosuch 2>/dev/null
	echo $?
	rm -rf autom4te.cache inst *.tar.gz l y p configure* config* Makefile.in aclocal.m4 ltmain.sh
}

c_gdb_and_strace() {
	gcc -g -O0 -x c -o p - <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		int depth;
		static int down(int n) { depth = n; return n ? down(n - 1) + 1 : 0; }
		int main(int argc, char **argv) { FILE *f = fopen("out", "w"); fprintf(f, "%d\n", down(3)); fclose(f);
			if (argc > 1) abort(); return 5; }
	END
	gdb -q -nx -batch -ex 'set debuginfod enabled off' -ex 'break down if n == 0' -ex run -ex 'bt 3' \
		-ex 'print depth' -ex 'watch depth' -ex 'finish' -ex 'set var depth = 9' -ex 'p depth' -ex kill ./p 2>&1 |
		grep -E '^(#|\$|Value)' | sed 's/ (.*at/ at/;s/0x[0-9a-f]* in //'
	gdb -q -nx -batch -ex run -ex 'info registers rip' --args ./p crash 2>&1 | grep -o 'SIGABRT' | head -1
	sleep 30 & sleep 0.2
	gdb -q -nx -batch -p $! -ex 'info inferiors' 2>/dev/null | grep -c process
	kill $!
	strace -o tr -e trace=openat,write,exit_group ./p
	echo $?
	grep -c exit_group tr && strace -f -c -o sum sh -c 'true; /bin/true' &&
		grep -c execve sum && strace -qq -e trace=none -e signal=all sh -c 'kill -USR1 $$' 2>&1 | grep -c SIGUSR1
	rm -f tr sum
}

c_ccache() {
	unset XDG_RUNTIME_DIR
	export CCACHE_DIR=$PWD/cc
	project 2
	ccache gcc -c -Iinclude src/f1.c && ccache gcc -c -Iinclude src/f1.c &&
		ccache --print-stats | grep -E '^(direct_cache_hit|cache_miss|local_storage_hit)' && ccache -C >/dev/null &&
		ls *.o && PATH=/usr/lib/ccache:$PATH gcc -Iinclude -c src/f2.c && ccache -s | wc -l | grep -c . 
	unset CCACHE_DIR
	ccache gcc -c -Iinclude src/f2.c && ls *.o
	rm -rf cc
}
