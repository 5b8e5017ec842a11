/*
 * Every suite of tests/unit: SUITE(name) stands for `Suite *suite_name(void)` in test_name.c.  One
 * that is missing here does not run, one that is missing there does not link.
 */
SUITE(approve)
SUITE(buf)
SUITE(bundle)
SUITE(cases)
SUITE(cmd)
SUITE(elfkind)
SUITE(eval_host)
SUITE(eval_path)
SUITE(git)
SUITE(image)
SUITE(lint)
SUITE(memo)
SUITE(narrow)
SUITE(parse)
SUITE(path)
SUITE(record)
SUITE(resolve)
SUITE(ring)
SUITE(sockaddr)
SUITE(wire)
