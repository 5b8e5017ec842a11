/*
 * The resolver, by its public names and by those that <resolv.h> gives them.  A resolver that gives
 * up at once is enough: the question is what counts, not who answers.
 */

#define CLASS_IN 1
#define TYPE_A	 1

static unsigned char answer[1024];

static res_state impatient(void)
{
	static struct __res_state st;

	res_ninit(&st);
	st.retrans = 1;
	st.retry = 1;
	res_init();
	_res.retrans = 1;
	_res.retry = 1;
	return &st;
}

/* A packet that asks for the name. */
static int packet(unsigned char *buf, int size)
{
	return res_mkquery(0, dir_a, CLASS_IN, TYPE_A, NULL, 0, NULL, buf, size);
}

static long call_res_query(void)
{
	impatient();
	return of_answer(f_res_query(dir_a, CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call_res_nquery(void)
{
	return of_answer(f_res_nquery(impatient(), dir_a, CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call_res_search(void)
{
	impatient();
	return of_answer(f_res_search(dir_a, CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call_res_nsearch(void)
{
	return of_answer(f_res_nsearch(impatient(), dir_a, CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call_res_querydomain(void)
{
	impatient();
	return of_answer(f_res_querydomain(dir_a, "", CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call_res_nquerydomain(void)
{
	return of_answer(
		f_res_nquerydomain(impatient(), dir_a, "", CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call_res_send(void)
{
	unsigned char msg[512];

	impatient();
	return of_answer(f_res_send(msg, packet(msg, sizeof(msg)), answer, sizeof(answer)) >= 0);
}

static long call_res_nsend(void)
{
	unsigned char msg[512];

	return of_answer(f_res_nsend(impatient(), msg, packet(msg, sizeof(msg)), answer, sizeof(answer)) >=
			 0);
}

static long call___res_query(void)
{
	impatient();
	return of_answer(f___res_query(dir_a, CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call___res_nquery(void)
{
	return of_answer(f___res_nquery(impatient(), dir_a, CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call___res_search(void)
{
	impatient();
	return of_answer(f___res_search(dir_a, CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call___res_nsearch(void)
{
	return of_answer(f___res_nsearch(impatient(), dir_a, CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call___res_querydomain(void)
{
	impatient();
	return of_answer(f___res_querydomain(dir_a, "", CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call___res_nquerydomain(void)
{
	return of_answer(
		f___res_nquerydomain(impatient(), dir_a, "", CLASS_IN, TYPE_A, answer, sizeof(answer)) >= 0);
}

static long call___res_send(void)
{
	unsigned char msg[512];

	impatient();
	return of_answer(f___res_send(msg, packet(msg, sizeof(msg)), answer, sizeof(answer)) >= 0);
}

static long call___res_nsend(void)
{
	unsigned char msg[512];

	return of_answer(f___res_nsend(impatient(), msg, packet(msg, sizeof(msg)), answer, sizeof(answer)) >=
			 0);
}
