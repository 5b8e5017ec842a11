# needs: nodejs
# limit: 60
# Node: files, children, threads, cluster, sockets, and npm with the tools that come from it.

c_node_files() {
	cat >f.mjs <<-'END'
		import fs from "node:fs"; import fsp from "node:fs/promises"; import path from "node:path"; import os from "node:os"
		import { pipeline } from "node:stream/promises"; import zlib from "node:zlib"
		process.umask(0o27)
		fs.mkdirSync("a/b/c", { recursive: true })
		fs.writeFileSync("a/f", "sync", { mode: 0o640 }); fs.appendFileSync("a/f", "+more");
		fs.copyFileSync("a/f", "a/g", fs.constants.COPYFILE_EXCL)
		fs.symlinkSync("f", "a/l"); fs.linkSync("a/f", "a/h"); fs.renameSync("a/g", "a/b/g"); fs.chmodSync("a/b/g", 0o755)
		console.log(fs.readdirSync("a", { recursive: true }).sort(), fs.readlinkSync("a/l"),
		    fs.realpathSync("a/l").slice(-4), fs.statSync("a/f").nlink)
		await Promise.all([...Array(60)].map((_, i) => fsp.writeFile(`p${i}`, "x".repeat(i))))
		console.log((await Promise.all([...Array(60)].map((_, i) => fsp.readFile(`p${i}`)))).reduce((n,
		    b) => n + b.length, 0))
		await Promise.all([...Array(60)].map((_, i) => fsp.unlink(`p${i}`)))
		const h = await fsp.open("handle", "w+"); await h.write("0123456789"); await h.truncate(5);
		await h.utimes(1e9, 1e9);
		console.log((await h.stat()).mtimeMs, (await h.read(Buffer.alloc(9), 0, 9, 0)).bytesRead); await h.close()
		await pipeline(fs.createReadStream(process.execPath, { end: 999999 }), zlib.createGzip(),
		    fs.createWriteStream("node.gz"))
		console.log(zlib.gunzipSync(fs.readFileSync("node.gz")).length); fs.unlinkSync("node.gz")
		console.log(path.basename(fs.mkdtempSync(path.join(os.tmpdir(), "t-"))).length);
		fs.cpSync("a", "copy", { recursive: true }); fs.rmSync("a", { recursive: true })
		for (const f of [() => fs.openSync("none"), () => fs.mkdirSync("copy"), () => fs.rmdirSync("copy"),
		    () => fs.readFileSync("copy"), () => fs.symlinkSync("x", "copy/l"), () => fs.accessSync("handle",
		    fs.constants.X_OK), () => fs.copyFileSync("none", "x"), () => fs.writeFileSync("copy/f", "", { flag: "wx" })])
		    try { f() } catch (e) { console.log(e.code, e.syscall, e.path, e.dest) }
		await fsp.open("none/x", "w").catch(e => console.log(e.message))
		for await (const d of await fsp.opendir("copy")) d.isDirectory() && console.log(d.name)
		fs.closeSync(fs.openSync("excl", "ax", 0o600)); fs.lutimesSync("copy/l", 1, 2);
		console.log(fs.lstatSync("copy/l").mtimeMs, fs.statfsSync(".").bsize > 0)
		const w = fs.createWriteStream("stream", { flags: "a" }); for (let i = 0; i < 1000; i++) w.write(`line ${i}\n`);
		await new Promise(r => w.end(r)); console.log(fs.statSync("stream").size)
	END
	node f.mjs
	find "$TMPDIR" -mindepth 1 -delete
}

c_node_watch() {
	mkdir d
	cat >w.js <<-'END'
		const fs = require("fs"), seen = new Set()
		const w = fs.watch("d", (kind, name) => { seen.add(name); if (seen.size == 3) { console.log([...seen].sort());
		    w.close(); poll() } })
		setTimeout(() => fs.writeFileSync("d/one", "1"), 50)
		setTimeout(() => fs.renameSync("d/one", "d/two"), 100)
		setTimeout(() => fs.mkdirSync("d/three"), 150)
		function poll() {
		    fs.watchFile("d/two", { interval: 50 }, (now, before) => { console.log(now.size, before.size);
		        fs.unwatchFile("d/two") })
		    setTimeout(() => fs.writeFileSync("d/two", "longer"), 100)
		}
	END
	node w.js
}

c_node_children() {
	cat >c.mjs <<-'END'
		import cp from "node:child_process"; import { promisify } from "node:util"; import fs from "node:fs"
		const exec = promisify(cp.exec), file = promisify(cp.execFile)
		console.log(cp.execSync("echo sync; pwd", { cwd: "/" }) + "", cp.execFileSync("cat", { input: "fed" }) + "",
		    cp.spawnSync("sh", ["-c", "echo e >&2; exit 4"]).status)
		console.log(await exec("echo $V", { env: { V: "val", PATH: process.env.PATH } }),
		    (await file("printf", ["%s|", "a", "b c"])).stdout)
		console.log(await exec("exit 3").catch(e => [e.code, e.cmd]),
		    await file("nonesuch").catch(e => [e.code, e.syscall]), await exec("sleep 9",
		    { timeout: 100 }).catch(e => [e.killed, e.signal]))
		const wait = p => new Promise(r => p.on("close", (code, sig) => r([code, sig])))
		const big = cp.spawn("head", ["-c", "5000000", "/dev/zero"]); let n = 0;
		big.stdout.on("data", d => n += d.length); console.log(await wait(big), n)
		console.log(await wait(cp.spawn("echo inherited; echo $0", { shell: "/bin/bash", stdio: ["ignore", "inherit",
		    "inherit"] })))
		const out = fs.openSync("out", "w");
		console.log(await wait(cp.spawn("echo", ["to file"], { stdio: ["ignore", out, out] })),
		    fs.readFileSync("out", "utf8"))
		const k = cp.spawn("sleep", ["9"]); k.kill("SIGTERM"); console.log(await wait(k))
		const det = cp.spawn("sh", ["-c", "echo detached >det"], { detached: true, stdio: "ignore" });
		console.log(await wait(det), fs.readFileSync("det", "utf8"))
		const extra = cp.spawn("sh", ["-c", "echo three >&3; cat <&4"],
		    { stdio: ["ignore", "inherit", "inherit", "pipe", "pipe"] })
		extra.stdio[4].end("four\n"); let three = ""; extra.stdio[3].on("data", d => three += d);
		console.log(await wait(extra), "fd 3:", three)
		fs.writeFileSync("k.js",
		    "process.on('message', m => { process.send({ got: m, argv: process.argv.slice(2), stdin: process.execArgv }); " +
		    "process.disconnect() })")
		const f = cp.fork("k.js", ["word"], { execArgv: ["--no-warnings"] }); f.send({ x: [1] });
		f.on("message", m => console.log(m)); console.log(await wait(f))
		const many = await Promise.all([...Array(40)].map((_, i) => exec(`echo ${i}`)));
		console.log(many.reduce((s, r) => s + +r.stdout, 0))
		const a = cp.spawn("echo", ["piped"]), b = cp.spawn("tr", ["a-z", "A-Z"]); a.stdout.pipe(b.stdin);
		b.stdout.pipe(process.stdout); console.log(await wait(b))
		console.log(cp.spawnSync("./c.mjs").error.code, cp.spawnSync("true", { cwd: "none" }).error.code,
		    cp.spawnSync("sh", ["-c", "kill -9 $$"]).signal)
	END
	node c.mjs
}

c_node_workers_and_cluster() {
	cat >w.mjs <<-'END'
		import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads"; import fs from "node:fs"
		if (isMainThread) {
		    const shared = new Int32Array(new SharedArrayBuffer(4))
		    const got = await Promise.all([...Array(6)].map((_, i) => new Promise((ok, no) => {
		        const w = new Worker("./w.mjs", { workerData: { i, shared } }); w.on("message", ok); w.on("error", no) })))
		    console.log(got, shared[0], fs.readdirSync(".").sort())
		    new Worker("throw new RangeError('from a worker')", { eval: true }).on("error",
		        e => console.log(e.name, e.message))
		} else {
		    for (let n = 0; n < 50; n++) { fs.writeFileSync(`w${workerData.i}`, `${n}`);
		        Atomics.add(workerData.shared, 0, 1) }
		    parentPort.postMessage([workerData.i, fs.readFileSync(`w${workerData.i}`, "utf8")])
		}
	END
	cat >c.js <<-'END'
		const cluster = require("cluster"), http = require("http")
		if (cluster.isPrimary) {
		    for (let i = 0; i < 2; i++) cluster.fork()
		    let up = 0
		    cluster.on("listening", (w, a) => { if (++up == 2) ask(a.port) })
		    const get = port => new Promise(r => http.get({ port, host: "127.0.0.1", agent: false }, res => { let b = "";
		        res.on("data", d => b += d).on("end", () => r(b)) }))
		    async function ask(port) {
		        const said = []
		        for (let i = 0; i < 8; i++) said.push(await get(port))
		        console.log(new Set(said).size, said.every(s => s.startsWith("worker")))
		        for (const id in cluster.workers) cluster.workers[id].disconnect()
		    }
		    let left = 2
		    cluster.on("exit", (w, code) => { if (!--left) console.log("all gone", code) })
		} else http.createServer((q, r) => r.end("worker " + cluster.worker.id)).listen(0, "127.0.0.1")
	END
	node w.mjs && node c.js
}

c_node_servers() {
	cat >s.mjs <<-'END'
		import http from "node:http"; import net from "node:net"; import fs from "node:fs";
		import dns from "node:dns/promises"; import { once } from "node:events"
		const s = http.createServer((q, r) => { if (q.method == "POST") q.pipe(r);
		    else if (q.url == "/big") fs.createReadStream(process.execPath, { end: 1999999 }).pipe(r);
		else { r.statusCode = 404; r.end("no " + q.url) } })
		s.listen(0, "127.0.0.1"); await once(s, "listening"); const u = `http://127.0.0.1:${s.address().port}/`
		console.log((await fetch(u)).status, (await (await fetch(u + "big")).arrayBuffer()).byteLength,
		    await (await fetch(u, { method: "POST", body: "echo" })).text(), (await fetch(u.replace("127.0.0.1",
		    "localhost"))).status)
		console.log((await Promise.all([...Array(30)].map((_, i) => fetch(u + i).then(r => r.text())))).at(-1))
		const x = net.createServer(c => c.pipe(c)).listen("x.sock"); await once(x, "listening");
		const c = net.connect("x.sock"); c.end("through a unix socket"); for await (const d of c) console.log(d + "")
		net.connect("none.sock").on("error", e => console.log(e.code));
		await once(net.createServer().on("error", e => console.log(e.code)).listen("x.sock"), "error").catch(() => 0)
		console.log(await dns.lookup("localhost", { family: 4 }), await dns.lookup("127.0.0.1"))
		const port = s.address().port; s.close(); s.closeAllConnections(); x.close(); await once(x, "close");
		await fetch(u).catch(e => console.log(e.cause.code)); console.log(fs.existsSync("x.sock"))
	END
	node s.mjs
}

c_node_odds() {
	node -e 'console.log(process.argv.length, process.title, process.execPath, require("os").cpus().length > 0)'
	node -p '[process.memoryUsage().rss > 0, process.uptime() < 9, process.cwd() === process.env.PWD]'
	echo 'console.log("from stdin")' | node
	echo 'process.stdin.pipe(process.stdout)' >cat.js && head -c 3000000 /dev/zero | node cat.js | sha256sum
	echo 'console.log(require("./lib").n)' >main.js && mkdir lib &&
		echo 'exports.n = require("crypto").createHash("md5").update("x").digest("hex")' >lib/index.js && node main.js
	echo 'throw new Error("words")' >t.js && node t.js 2>&1 | head -4
	node none.js 2>&1 | head -5
	node --check main.js && node --expose-gc -e 'gc(); console.log("gc")' &&
		node --stack-size=500 -e 'try { (function f() { f() })() } catch (e) { console.log(e.name) }'
	node -e \
		'process.on("SIGUSR2", () => { console.log("usr2"); process.exit(7) });
			setTimeout(() => process.kill(process.pid, "SIGUSR2"), 20); setInterval(() => 0, 99)'
	echo $?
	mkdir t && printf '%s\n' 'import test from "node:test"; import fs from "node:fs"; import assert from "node:assert"' \
		'test("writes", () => { fs.writeFileSync("made", "1"); assert.ok(1) }); test("fails", () => assert.equal(1, 2))' \
		>t/a.test.mjs
	node --test t/ | grep -E '^# (tests|pass|fail)'
	NODE_V8_COVERAGE=cov node main.js && ls cov | wc -l && rm -r cov
	node --cpu-prof --cpu-prof-dir=prof main.js && ls prof | wc -l && rm -r prof
	printf '1 + 1\n.exit\n' | NODE_REPL_HISTORY= node -i
	node -e 'new Promise((_, no) => no(new Error("unhandled")))' 2>/dev/null
	echo $?
}

export npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false npm_config_logs_max=0

has_npm() {
	command -v npm >/dev/null || { echo "npm is not installed" && exit 77; }
}

p_npm_local_tarball() { has_npm; }
c_npm_local_tarball() {
	export npm_config_offline=true
	mkdir greet && cd greet
	printf '%s' \
		'{"name":"greet","version":"1.0.0","bin":{"greet":"g.js"},"scripts":{"postinstall":"echo ran > installed"}}' \
		>package.json
	printf '%s\n' '#!/usr/bin/env node' \
		'console.log("greetings", process.argv[2], require("fs").existsSync(__dirname + "/installed"))' >g.js
	chmod +x g.js
	npm pack --silent
	cd .. && mkdir app && cd app
	npm init -y >/dev/null
	npm install --silent ../greet/greet-1.0.0.tgz && npm ls
	npx greet world
	npm pkg set scripts.hello='greet script && echo $npm_lifecycle_event' scripts.fails='exit 9' && npm run --silent hello
	npm run fails >/dev/null 2>&1
	echo $?
	npm uninstall --silent greet && ls -A . node_modules
	rm -rf "$HOME/.npm"
}

# from_npm PACKAGE...: the registry is asked once, bare.
from_npm() {
	has_npm
	npm install "$@" || { echo "the npm registry gives no $*" && exit 77; }
	rm -rf "$HOME/.npm"
}

p_npm_vitest() { from_npm vitest@1; }
c_npm_vitest() {
	mkdir src && echo 'export const add = (a: number, b: number): number => a + b' >src/add.ts
	printf '%s\n' 'import { expect, test } from "vitest"; import { add } from "./add"; import fs from "node:fs"' \
		'test("adds", () => expect(add(1, 2)).toBe(3));
			test("files", () => { fs.writeFileSync("made", "x"); expect(fs.readFileSync("made", "utf8")).toBe("x") })' \
		'test("snapshot", () => expect({ a: [1, 2] }).toMatchSnapshot())' >src/add.test.ts
	npx vitest run --reporter=json --outputFile=r.json >/dev/null 2>err
	echo $?
	node -p 'const r = JSON.parse(require("fs").readFileSync("r.json")); [r.numPassedTests, r.numFailedTests, r.success]'
	npx vitest run --pool=forks --reporter=json --outputFile=r.json >/dev/null 2>>err
	echo $? && cat err && rm -rf r.json node_modules "$HOME/.npm" && find . -name '*.snap' -exec cat {} +
}

p_npm_tsc() { from_npm typescript@5; }
c_npm_tsc() {
	mkdir src && echo 'import { b } from "./b"; const n: number = b("x"); console.log(n)' >src/a.ts &&
		echo 'export const b = (s: string) => s.length' >src/b.ts
	npx tsc --init >/dev/null
	npx tsc --outDir out --rootDir src --declaration --sourceMap --incremental src/a.ts 2>&1
	npx tsc --noEmit false --types '' --strict --outDir out --declaration src/a.ts && node out/a.js && ls -R out
	echo 'const s: string = 1' >wrong.ts && npx tsc --noEmit wrong.ts
	echo $?
	rm -rf node_modules "$HOME/.npm"
}

p_npm_esbuild() { from_npm esbuild@0.25; }
c_npm_esbuild() {
	echo 'import { b } from "./b"; console.log(b(2))' >a.ts && echo 'export const b = (n: number) => n * 21' >b.ts
	npx esbuild a.ts --bundle --outfile=out.js --sourcemap --log-level=warning && node out.js
	printf '%s\n' \
		'require("esbuild").build({
			entryPoints: ["a.ts"], bundle: true, minify: true, outdir: "min" }).then(r => console.log(r.errors.length))' \
		>build.js
	node build.js && cat min/a.js && sha256sum out.js
	npx esbuild none.ts 2>&1 | grep -c ERROR
	rm -rf node_modules "$HOME/.npm"
}
