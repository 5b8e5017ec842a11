/* The preload's own mem* and str* functions answer as libc's do. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_own_strings(void);

#define OWN(name) __typeof__(name) own_##name;
OWN(memcpy)
OWN(memmove)
OWN(memset)
OWN(memcmp)
OWN(memchr)
OWN(memrchr)
OWN(strnlen)
OWN(strlen)
OWN(strncmp)
OWN(strcmp)
OWN(strcasecmp)
OWN(strchr)
OWN(strrchr)
OWN(strcspn)
OWN(strspn)
OWN(strstr)
OWN(strcpy)

#define memcpy	   own_memcpy
#define memmove	   own_memmove
#define memset	   own_memset
#define memcmp	   own_memcmp
#define memchr	   own_memchr
#define memrchr	   own_memrchr
#define strnlen	   own_strnlen
#define strlen	   own_strlen
#define strncmp	   own_strncmp
#define strcmp	   own_strcmp
#define strcasecmp own_strcasecmp
#define strchr	   own_strchr
#define strrchr	   own_strrchr
#define strcspn	   own_strcspn
#define strspn	   own_strspn
#define strstr	   own_strstr
#define strcpy	   own_strcpy
#include "preload/process/string.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef memchr
#undef memrchr
#undef strnlen
#undef strlen
#undef strncmp
#undef strcmp
#undef strcasecmp
#undef strchr
#undef strrchr
#undef strcspn
#undef strspn
#undef strstr
#undef strcpy

#define ROUNDS 20000
#define ROOM   40

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* Few different bytes, so that much is alike, and of both signs. */
static void fill(char s[ROOM], size_t len)
{
	static const char bytes[] = { 'a', 'a', 'a', 'b', 'A', '/', (char)0xe1 };

	for (size_t i = 0; i < len; i++)
		s[i] = bytes[(size_t)rand() % sizeof bytes];
	s[len] = '\0';
}

START_TEST(two_strings)
{
	char a[ROOM], b[ROOM], copy[ROOM];
	size_t la, lb, n;

	srand(1);
	for (int i = 0; i < ROUNDS; i++) {
		la = (size_t)rand() % (ROOM - 1), lb = (size_t)rand() % 4;
		fill(a, la);
		fill(b, lb);
		ck_assert_ptr_eq(own_strstr(a, b), strstr(a, b));
		ck_assert_uint_eq(own_strspn(a, b), strspn(a, b));
		ck_assert_uint_eq(own_strcspn(a, b), strcspn(a, b));
		ck_assert_int_eq(sign(own_strcmp(a, b)), sign(strcmp(a, b)));
		n = (size_t)rand() % ROOM;
		ck_assert_uint_eq(own_strlen(a), la);
		ck_assert_uint_eq(own_strnlen(a, n), strnlen(a, n));
		ck_assert_str_eq(own_strcpy(copy, a), a);
		copy[n % (la + 1)] ^= (char)(rand() % 2 * ('a' ^ 'A'));
		n = (size_t)rand() % (la + 2);
		ck_assert_int_eq(sign(own_memcmp(a, copy, n)), sign(memcmp(a, copy, n)));
		copy[la] = '\0';
		ck_assert_int_eq(sign(own_strncmp(a, copy, n)), sign(strncmp(a, copy, n)));
		ck_assert_int_eq(sign(own_strcasecmp(a, copy)), sign(strcasecmp(a, copy)));
	}
}
END_TEST

START_TEST(one_byte)
{
	static const char sought[] = { 'a', 'b', '/', '\0', (char)0xe1, 'z' };
	char a[ROOM];
	size_t len, n;

	srand(2);
	for (int i = 0; i < ROUNDS; i++) {
		int c = sought[(size_t)i % sizeof sought];

		len = (size_t)rand() % (ROOM - 1), n = (size_t)rand() % (len + 1);
		fill(a, len);
		ck_assert_ptr_eq(own_strchr(a, c), strchr(a, c));
		ck_assert_ptr_eq(own_strrchr(a, c), strrchr(a, c));
		ck_assert_ptr_eq(own_memchr(a, c, n), memchr(a, c, n));
		ck_assert_ptr_eq(own_memrchr(a, c, n), memrchr(a, c, n));
	}
}
END_TEST

START_TEST(copies)
{
	char a[2 * ROOM], b[2 * ROOM];

	srand(3);
	for (int i = 0; i < ROUNDS; i++) {
		size_t from = (size_t)rand() % ROOM, to = (size_t)rand() % ROOM, n = (size_t)rand() % ROOM;

		for (size_t k = 0; k < sizeof a; k++)
			a[k] = b[k] = (char)rand();
		ck_assert_ptr_eq(own_memmove(a + to, a + from, n), a + to);
		memmove(b + to, b + from, n);
		ck_assert_mem_eq(a, b, sizeof a);
		ck_assert_ptr_eq(own_memcpy(b + to, a + from, n), b + to);
		ck_assert_mem_eq(b + to, a + from, n);
		own_memset(a + to, rand(), n);
		memset(b + to, a[to], n);
		ck_assert_mem_eq(a + to, b + to, n);
	}
}
END_TEST

Suite *suite_own_strings(void)
{
	Suite *s = suite_create("own_strings");
	TCase *t = tcase_create("own_strings");

	tcase_add_test(t, two_strings);
	tcase_add_test(t, one_byte);
	tcase_add_test(t, copies);
	suite_add_tcase(s, t);
	return s;
}
