# Secrets stand in no ledger.
. "$T_LIB"

t_secrets_are_masked() {
	fsh 'true --token=ghp_abcdefghijklmnopqrstuvwxyz0123456789 \
		AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY
		env -u X true --password hunter2hunter2'
	rc_is 0
	! ledgers | grep -q 'ghp_abcdefghij' || fail "a token stands in the ledger"
	! ledgers | grep -q 'wJalrXUtnFEMI' || fail "a key stands in the ledger"
}

# Whatever they look like, and wherever they stand.
t_values_of_secrets_are_masked() {
	printf '[commands]\nask = touch\n[environment]\npass = PLAIN_NAME\nset = OPEN_WORD=offenkundig\n' | policy
	export DEPLOY_TOKEN=zuViel-Geheim.42 \
		PLAIN_NAME="was keiner ahnt" OPEN_WORD=offenkundig PALE_PROMPT=1 T_PASS=DEPLOY_TOKEN
	bg masked bash -c '/bin/true "x$DEPLOY_TOKEN"; mkdir "$DEPLOY_TOKEN"
		cd "$DEPLOY_TOKEN"; cat "/nowhere/$PLAIN_NAME"; /bin/true $OPEN_WORD; touch "$DEPLOY_TOKEN"' \
		"$DEPLOY_TOKEN" --password hunter2hunter2
	pale deny "$(pending_id)" --reason "not zuViel-Geheim.42" || fail "cannot be denied"
	bg_wait masked
	ledgers | grep -q 'x\*\*\*' || fail "the command is not in the ledger"
	ledgers | grep -q 'approval/request.*touch' || fail "the question is not in the ledger"
	ledgers | grep -q offenkundig || fail "more is masked than secrets"
	! grep -rlE 'zuViel-Geheim|keiner ahnt|hunter2hunter2' "$STATE" || fail "a secret is written down"
	verifies
}

scenario "$@"
