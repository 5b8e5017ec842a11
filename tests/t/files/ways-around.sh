# retry: timeouts
# levels: full hooks
# Ways around a name: links, `..`, /proc, renames, descriptors.  Each ends as the plain way would.
. "$T_LIB"

SECRET=.ssh/id_rsa

# cannot_read COMMAND: the decoy does not come out.
cannot_read() {
	fsh "$1"
	no_decoy
	! grep -qF "$DECOY" "$S/err" || fail "the secret came out on stderr"
	grep -q '^pale: denied' "$S/err" || fail "nothing was denied: $1"
}

t_symlink_to_a_secret() {
	ln -s "$HOME/$SECRET" link
	cannot_read 'cat link'
	ln -s "$HOME/.ssh" dir
	cannot_read 'cat dir/id_rsa'
	cannot_read 'ls dir/'
	cannot_read "ln -s $HOME/$SECRET made; cat made"
	cannot_read "ln -s ../.ssh/id_rsa made2; cat made2"
}

t_chain_of_symlinks() {
	ln -s "$HOME" up
	ln -s up/.ssh second
	ln -s second/id_rsa third
	cannot_read 'cat third'
}

t_hardlink_to_a_secret() {
	cannot_read "ln $HOME/$SECRET link; cat link"
	missing link
	cannot_read "ln -L $HOME/$SECRET link; cp -l $HOME/$SECRET link; cat link"
	missing link
}

t_hardlink_of_an_outside_file() {
	fsh 'ln ~/outside-file link; echo changed >>link'
	file_is ~/outside-file "$DECOY outside-file"
	! [ ~/outside-file -ef link ] || fail "linked"
	denied link "$HOME/outside-file" "outside the workspace"
}

t_dotdot() {
	cannot_read "cat ../.ssh/id_rsa"
	cannot_read "cat $W/../.ssh/id_rsa"
	cannot_read "cat $W/./../../h/.ssh//id_rsa"
	mkdir -p a/b
	cannot_read "cat a/b/../../../.ssh/id_rsa"
	fsh 'echo x >a/../../outside; echo x >./../outside; mkdir ../made; rm a/../../outside-file'
	missing ~/outside
	missing ~/made
	exists ~/outside-file
}

# A link to a directory makes `link/..` another place than its text says.
t_dotdot_behind_a_symlink() {
	mkdir -p ~/elsewhere/deep
	ln -s ~/elsewhere/deep link
	fsh 'echo x >link/../made; rm -f link/../file'
	missing ~/elsewhere/made
	exists ~/elsewhere/file
	ln -s ~/.ssh/.. home
	cannot_read 'cat home/.ssh/id_rsa'
}

t_proc_self() {
	cannot_read "cat /proc/self/root$HOME/$SECRET"
	cannot_read "cat /proc/self/cwd/../.ssh/id_rsa"
	cannot_read "cat /proc/thread-self/root$HOME/$SECRET"
	cannot_read "cat /proc/\$\$/root$HOME/$SECRET"
	cannot_read "cat /proc/\$\$/cwd/../.ssh/id_rsa"
	fsh 'echo x >/proc/self/cwd/../outside; rm -f /proc/self/root'"$HOME"'/elsewhere/file'
	missing ~/outside
	exists ~/elsewhere/file
	fsh 'cat /proc/self/cwd/file'
	rc_is 0
	out_has hello
}

t_proc_fd() {
	fsh 'exec 3</etc/passwd; cat /proc/self/fd/3 >/dev/null
		cat /dev/fd/3 | head -1; exec 4<.; cat /proc/self/fd/4/file; cat <(echo substituted)'
	rc_is 0
	out_has root
	out_has hello
	out_has substituted
	not_denied
	cannot_read "exec 4<..; cat /proc/self/fd/4/.ssh/id_rsa"
	fsh 'exec 4<..; echo x >/proc/self/fd/4/outside; exec 5<~/outside-file; echo x >/proc/self/fd/5'
	missing ~/outside
	file_is ~/outside-file "$DECOY outside-file"
}

t_chdir() {
	cannot_read 'cd ..; cat .ssh/id_rsa'
	cannot_read 'cd ../.ssh 2>/dev/null; cat id_rsa; cat ./id_rsa'
	cannot_read 'cd /; cat .'"$HOME/$SECRET"
	fsh 'cd ..; echo x >outside; cd elsewhere; rm -f file; cd '"$W"'; echo y >inside'
	missing ~/outside
	exists ~/elsewhere/file
	file_is inside y
}

t_fchdir_and_at_calls() {
	fence python3 -c '
import os
def attempt(f):
    try: f(); print("done")
    except OSError as e: print("errno", e.errno)
up = os.open("..", os.O_RDONLY)
attempt(lambda: os.open("outside", os.O_CREAT | os.O_WRONLY, dir_fd=up))
attempt(lambda: os.unlink("outside-file", dir_fd=up))
attempt(lambda: os.mkdir("made", dir_fd=up))
attempt(lambda: os.rename("outside-file", "work-file", src_dir_fd=up))
attempt(lambda: os.rename("file", "outside", dst_dir_fd=up))
attempt(lambda: os.symlink("x", "outside", dir_fd=up))
attempt(lambda: os.open(".ssh/id_rsa", os.O_RDONLY, dir_fd=up))
os.fchdir(up)
attempt(lambda: open("outside", "w"))
attempt(lambda: open(".ssh/id_rsa"))'
	rc_is 0
	out_lacks "done"
	! grep -vq '^errno 13$' "$S/out" || fail "other errors than EACCES"
	missing ~/outside
	exists ~/outside-file
	exists "$W/file"
}

t_moved_working_directory() {
	mkdir -p a/b
	fsh 'cd a/b; mv ../../a ../../c; echo x >here; cat ../../file; echo x >../../../outside'
	file_is c/b/here x
	out_has hello
	missing ~/outside
}

t_removed_working_directory() {
	mkdir gone
	fsh 'cd gone; rmdir ../gone; echo x >made; cat ../file; ls ..; true'
	missing gone
	[ "$RC" -lt 128 ] || fail "crash"
}

t_ancestor_of_a_secret() {
	fsh "mv ~/.ssh ~/work/got; mv ~/.config ~/work/got; mv $HOME ${HOME}x; rm -rf ~/.config; rmdir ~/.config"
	rc_not 0
	missing got
	exists ~/.ssh/id_rsa
	exists ~/.config/gh/hosts.yml
	grep -q '^pale: denied' "$S/err" || fail "nothing denied"
}

t_directory_above_a_secret_in_the_workspace() {
	mkdir -p vault/inner
	echo "$DECOY" >vault/inner/key
	printf '[files]\ndeny = vault/inner\n' | policy
	cannot_read 'cat vault/inner/key'
	cannot_read 'mv vault other; cat other/inner/key'
	cannot_read 'mv vault/inner other; cat other/key'
	cannot_read 'ln -s vault v; cat v/inner/key'
	cannot_read 'cp -r vault copy; cat copy/inner/key'
	cannot_read 'tar cf - vault; rm -rf vault'
	exists vault/inner/key
}

t_exchange() {
	mkdir plain
	fence python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
r = libc.renameat2(-100, b"plain", -100, os.environ["HOME"].encode() + b"/elsewhere", 2)
print(r, ctypes.get_errno())'
	out_is "-1 13"
	exists ~/elsewhere/file
}

t_truncate_and_modes() {
	fsh 'truncate -s 0 ~/outside-file; chmod 777 ~/outside-file; touch -d 2001-01-01 ~/outside-file; : >~/outside-file
		echo y >>~/outside-file; dd if=/dev/zero of=$HOME/outside-file count=1; tee ~/outside-file </dev/null
		sed -i s/d/x/ ~/outside-file; cp file ~/outside-file; mv file ~/outside-file; install file ~/outside-file'
	file_is ~/outside-file "$DECOY outside-file"
	[ "$T_LEVEL" = hooks ] || [ "$(stat -c %a ~/outside-file)" != 777 ] || fail "mode changed"
	exists file
}

t_copy_tools() {
	cannot_read 'cp ~/.ssh/id_rsa k; cat k'
	cannot_read 'tar cf - -C ~ .ssh | tar xOf -'
	cannot_read 'grep -r . ~/.ssh'
	cannot_read 'dd if=$HOME/.ssh/id_rsa status=none'
	cannot_read 'mapfile x <~/.ssh/id_rsa; echo "${x[@]}"'
	cannot_read 'find ~/.ssh -type f -exec cat {} +'
	cannot_read 'head -c 100 ~/.aws/credentials ~/.npmrc ~/.kube/config'
	cannot_read 'git diff --no-index /dev/null ~/.ssh/id_rsa'
	cannot_read 'openssl base64 -in ~/.ssh/id_rsa; base64 ~/.ssh/id_rsa; xxd ~/.ssh/id_rsa; od -c ~/.ssh/id_rsa'
}

t_real_name_of_a_linked_secret() {
	mv ~/.ssh ~/keys
	ln -s keys ~/.ssh
	cannot_read 'cat ~/keys/id_rsa'
	cannot_read 'cat ~/.ssh/id_rsa'
	fsh 'rm ~/.ssh; ln -s /tmp ~/.ssh'
	[ -L ~/.ssh ] && [ "$(readlink ~/.ssh)" = keys ] || fail "the link was changed"
}

t_git_hooks_are_readonly() {
	git init -q .
	fsh 'echo "echo pwned" >.git/hooks/pre-commit
		chmod +x .git/hooks/pre-commit; mv file .git/hooks/post-commit; ln -s /bin/true .git/hooks/pre-push'
	missing .git/hooks/pre-commit
	missing .git/hooks/post-commit
	missing .git/hooks/pre-push
	fsh 'mv .git/hooks .git/h2 && mkdir .git/hooks && cp /bin/true .git/hooks/pre-commit'
	missing .git/hooks/pre-commit
}

t_policy_is_not_the_agents() {
	printf '[files]\n' | policy
	mkdir .pale
	printf '[files]\n' >.pale/policy.ini
	chmod 600 .pale/policy.ini
	fsh 'echo x >>~/.config/pale/policy.ini; rm ~/.config/pale/policy.ini; mv ~/.config/pale ~/.config/x
		echo x >>.pale/policy.ini; rm -rf .pale; mv .pale p; echo x >'"$T_STAGE/lib/pale/libpale.so"
	file_is ~/.config/pale/policy.ini "[files]"
	file_is .pale/policy.ini "[files]"
}

scenario "$@"
