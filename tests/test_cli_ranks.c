/* test_cli_ranks.c: the program under mpirun, of Open MPI and of MPICH: the same bytes as
 * one process, one voice, and an end whatever happens. Ranks share two cores here. */
#include "clitest.h"

#include "base/os.h"

typedef struct mpi {
    const char *name, *run;
} mpi;

static const mpi mpis[] = {
    {"Open MPI", "mpirun.openmpi --oversubscribe --bind-to none"},
    {"MPICH", "mpirun.mpich"},
};
enum { MPIS = 2, OPEN_MPI = 0 };

/* The command under mpirun in the folder; exit status, what it said in out_text and
 * err_text. */
static int run_ranks(const mpi *m, int ranks, const char *line)
{
    char command[2048], path[80];
    snprintf(command, sizeof command,
             "cd %s && timeout %d %s -n %d %s %s >%s/out 2>%s/err </dev/null", folder,
             test_long() ? 600 : 240, m->run, ranks, program(), line, captured, captured);
    const int status = system(command);
    snprintf(path, sizeof path, "%s/out", captured);
    read_file(out_text, TEXT_MAX, path);
    snprintf(path, sizeof path, "%s/err", captured);
    read_file(err_text, TEXT_MAX, path);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* One process and several: the same files and the same words. */
static void check_same(const mpi *m, const char *command, const char *name, int most)
{
    char text[512];
    snprintf(text, sizeof text, "%s -o %s", command, name);
    run_well(text);
    char *said = strdup(out_text);
    snprintf(text, sizeof text, "rm -rf whole && mv %s whole", name);
    run_shell(text);
    for (int ranks = 2; ranks <= most; ranks++) {
        snprintf(text, sizeof text, "%s -o %s", command, name);
        const int code = run_ranks(m, ranks, text);
        if (code != 0)
            fail_msg("%s, %d ranks: exit %d: %s", m->name, ranks, code, err_text);
        assert_string_equal(out_text, said);
        snprintf(text, sizeof text, "diff -r %s whole && rm -r %s", name, name);
        run_shell(text);
    }
    free(said);
}

/* Images that a net of some size learns from: its steps are shared. */
static void make_images(void)
{
    enum { N = 60, SIDE = 28, HEAD = 16 };
    static unsigned char image[HEAD + N * SIDE * SIDE] = {0, 0, 8, 3,    0, 0, 0, N,
                                                          0, 0, 0, SIDE, 0, 0, 0, SIDE};
    unsigned char label[8 + N] = {0, 0, 8, 1, 0, 0, 0, N};
    for (int i = 0; i < N * SIDE * SIDE; i++)
        image[HEAD + i] = (unsigned char)(xb_hash_bytes(7, &i, sizeof i) >> 20);
    for (int i = 0; i < N; i++) label[8 + i] = (unsigned char)(i % 3);
    make_file("i-images-idx3-ubyte", image, sizeof image);
    make_file("i-labels-idx1-ubyte", label, sizeof label);
}

#define IMAGE_NET                                                                        \
    " --net 'conv 32, relu, maxpool 2, batchnorm, conv 8, relu, batchnorm, flatten,"     \
    " dense 3' --batch 48 --threads 1"

static void make_model(void)
{
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 2 --mle-epochs 2");
}

static void ranks_give_the_bytes_of_one_process(void **state)
{
    (void)state;
    make_model();
    const int most = SANITIZED ? 2 : test_long() ? 8 : 3;
    for (int i = 0; i < MPIS; i++)
        check_same(&mpis[i], "predict m.safetensors xy.csv --draws 40 --threads 1",
                   "p.csv", most);
    OPTIMISED_ONLY();
    check_same(&mpis[OPEN_MPI],
               "predict m.safetensors xy.csv --draws auto --tolerance 0.2 --threads 3",
               "p.csv", 2);
    run_shell("head -4 xy.csv > few.csv"); /* draws are dealt */
    check_same(&mpis[OPEN_MPI], "predict m.safetensors few.csv --draws 40", "p.csv", 2);
    check_same(&mpis[OPEN_MPI],
               "crossbar m.safetensors xy.csv --reads 20 --sweep adc-bits=4:6"
               " --format svg --array ideal --threads 1",
               "sweep", test_long() ? 4 : 3);
    check_same(&mpis[OPEN_MPI],
               "study energy --quick --widths 1,2,3 --depths 1 --seeds 1 --format svg",
               "nets", test_long() ? 3 : 2);
    /* a trace that is read by byte ranges */
    run_well("sample gaussian -n 16800000 -o long.npy");
    check_same(&mpis[OPEN_MPI], "fit long.npy --family gaussian", "law.json",
               test_long() ? 4 : 2);
    run_shell("rm long.npy");
    if (!test_long()) return;
    check_same(&mpis[1], "study array --quick --format svg", "arrays", 4);
    check_same(&mpis[0], "study narrow --quick --format svg --widths 1,2 --depths 1",
               "narrow", 2);
}

/* As a user starts it: from PATH, without the folder where the module lies in its name.
 */
static void a_program_of_path_finds_its_module(void **state)
{
    (void)state;
    char command[2048], place[1024];
    make_model();
    snprintf(place, sizeof place, "%s", program());
    *strrchr(place, '/') = '\0';
    for (int i = 0; i < MPIS; i++) {
        snprintf(command, sizeof command,
                 "cd %s && PATH=%s:$PATH timeout 240 %s -n 2 crossbayes predict"
                 " m.safetensors xy.csv --draws 40 -o p.csv >%s/out 2>%s/err </dev/null",
                 folder, place, mpis[i].run, captured, captured);
        if (system(command) == 0) continue;
        snprintf(command, sizeof command, "%s/err", captured);
        read_file(err_text, TEXT_MAX, command);
        fail_msg("%s: %s", mpis[i].name, err_text);
    }
}

/* The same of what is printed, and of c.safetensors where there is one. */
static void check_says_same(const char *command, int most)
{
    run_well(command);
    char *said = strdup(out_text);
    run_shell("rm -f whole; touch c.safetensors && mv c.safetensors whole");
    for (int ranks = 2; ranks <= most; ranks++) {
        const int code = run_ranks(&mpis[OPEN_MPI], ranks, command);
        if (code != 0) fail_msg("%d ranks: exit %d: %s", ranks, code, err_text);
        assert_string_equal(out_text, said);
        run_shell("touch c.safetensors && cmp c.safetensors whole && rm c.safetensors");
    }
    free(said);
}

/* Ranks share the steps of a net of images, with batchnorm, rows held out and members;
 * small nets are trained one or several by each. */
static void trained_models_have_the_bytes_of_one_process(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    folder_empty(folder);
    make_images();
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    check_same(&mpis[OPEN_MPI],
               "train i-images-idx3-ubyte --epochs 2 --mle-epochs 1 --validation 0.2"
               " --history t.csv" IMAGE_NET,
               "m.safetensors", test_long() ? 8 : 3);
    check_same(&mpis[1],
               "train i-images-idx3-ubyte --epochs 1 --mle-epochs 1 --members 2"
               " --estimator flipout --random all" IMAGE_NET,
               "m.safetensors", test_long() ? 4 : 2);
    check_same(&mpis[OPEN_MPI],
               "train xy.csv -t y --net 'dense 8, relu, dense 1' --members 3 --epochs 9"
               " --mle-epochs 9 --validation 0.2",
               "m.safetensors", test_long() ? 3 : 2);
    check_same(&mpis[OPEN_MPI], "train xy.csv -t y --epochs 9 --mle-epochs 9",
               "m.safetensors", 2); /* nets and likelihoods are tried */
}

static void studies_and_scores_have_the_bytes_of_one_process(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    make_model();
    check_says_same("eval m.safetensors xy.csv --law gaussian --law mtj --draws 4000",
                    test_long() ? 4 : 2);
    check_says_same(
        "eval m.safetensors xy.csv --draws 4000 --save-calibrated c.safetensors", 2);
    check_same(&mpis[OPEN_MPI], "study utkface --data synthetic --quick --format svg",
               "faces", test_long() ? 3 : 2);
    check_same(&mpis[OPEN_MPI], "reproduce --quick --only 1 --format svg", "paper",
               test_long() ? 3 : 2);
    if (test_long()) check_same(&mpis[1], "reproduce --quick --format svg", "paper", 2);
}

/* One line of ours, exit status 2, and no file more. */
static void refused(int mpis_used, int ranks, const char *line, const char *part)
{
    for (int i = 0; i < mpis_used; i++) {
        const int before = folder_count(folder);
        const int code = run_ranks(&mpis[i], ranks, line);
        if (code != 2)
            fail_msg("%s: %s: exit %d: %s", mpis[i].name, line, code, err_text);
        const char *own = strstr(err_text, "crossbayes");
        if (!own || !strstr(err_text, part))
            fail_msg("%s: %s: expected '%s' in: %s", mpis[i].name, line, part, err_text);
        const char *again = strstr(strchr(own, '\n'), "\ncrossbayes");
        if (again) fail_msg("%s: %s: said twice: %s", mpis[i].name, line, err_text);
        assert_int_equal(folder_count(folder), before);
    }
}

static void wrong_use_is_one_line_of_rank_0(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    make_model();
    refused(MPIS, 2, "predict m.safetensors none.csv -o p.csv", "none.csv");
    refused(MPIS, 2, "predict m.safetensors xy.csv -o /proc/p.csv",
            "/proc/p.csv: cannot write"); /* a file system that takes no files */
    refused(1, 3, "study energy --quick --widths 1,2 --depths 1 -o e",
            "nets: 2 items of work cannot be divided among 3 ranks; use at most 2");
    refused(1, 2, "fit xy.csv --column y",
            "only traces of more than 16777216 samples that are taken as they are");
    refused(1, 2, "predict m.safetensors", "missing argument");
    refused(1, 2, "train xy.csv -t y --net 'dense 8, relu, dense 1' -o n.safetensors",
            "1 net can be trained side by side here");
    make_images();
    refused(1, 17, "train i-images-idx3-ubyte -o n.safetensors" IMAGE_NET,
            "a batch of 48 rows is cut into 16 blocks, which cannot be divided among 17");
    refused(1, 2, "train none.csv -t y -o n.safetensors", "none.csv");
    refused(1, 2, "study laws --quick -o laws", "cannot run on several ranks");
    setenv("CROSSBAYES_MPI", "/nowhere.so", 1);
    refused(1, 2, "predict m.safetensors xy.csv -o p.csv",
            "started with 2 ranks, but /nowhere.so cannot be used");
    unsetenv("CROSSBAYES_MPI");
    setenv("SLURM_STEP_NUM_TASKS", "4", 1); /* srun without MPI */
    setenv("SLURM_PROCID", "0", 1);
    run_badly("predict m.safetensors xy.csv -o p.csv",
              "srun started 4 processes without MPI: give it the MPI type pmix");
    setenv("CROSSBAYES_MPI", "none", 1);
    run_well("predict m.safetensors xy.csv -o p.csv --draws 10");
    unsetenv("CROSSBAYES_MPI");
    unsetenv("SLURM_STEP_NUM_TASKS");
    unsetenv("SLURM_PROCID");
}

/* Ranks that do not agree: a script gives each its own words. */
static void ranks_that_differ_are_named(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    make_model();
    char text[512];
    snprintf(text, sizeof text,
             "cd %s && timeout 240 %s -n 2 sh -c 'exec %s predict m.safetensors xy.csv -o"
             " p.csv --draws 1$OMPI_COMM_WORLD_RANK' 2>err",
             folder, mpis[OPEN_MPI].run, program());
    assert_int_not_equal(system(text), 0);
    run_shell("grep -q 'rank 1: was started with another command line' err");
    run_shell("mkdir 0 1 && cp m.safetensors xy.csv 0 && cp m.safetensors 1 &&"
              " sed 's/^1,/2,/;$s/$/1/' xy.csv > 1/xy.csv");
    snprintf(
        text, sizeof text,
        "cd %s && timeout 240 %s -n 2 sh -c 'cd $OMPI_COMM_WORLD_RANK; exec %s predict"
        " m.safetensors xy.csv -o p.csv --draws 10' 2>err",
        folder, mpis[OPEN_MPI].run, program());
    assert_int_not_equal(system(text), 0);
    run_shell("grep -q 'rank 1: xy.csv differs from that of rank 0' err");
    run_shell("test ! -e 0/p.csv -a ! -e 1/p.csv && rm -r 0 1");
}

/* A rank is killed while it trains nets: the job ends, says which, leaves whole files,
 * and one process goes on from them to the bytes of an undisturbed run. */
static void a_rank_that_dies_ends_the_job(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    static const char study[] =
        "study energy --quick --widths 1,2,3 --depths 1 --seeds 1 --format svg -o nets";
    char text[1024];
    folder_empty(folder);
    run_well(study);
    run_shell("mv nets whole");
    snprintf(
        text, sizeof text,
        "cd %s && timeout 240 %s -n 2 sh -c 'echo $$ > pid$OMPI_COMM_WORLD_RANK; exec"
        " %s %s' >out 2>err & job=$!; cd %s; until ls nets/nets/*numbers*"
        " >/dev/null 2>&1; do sleep 0.02; done; kill -9 $(cat pid1); wait $job",
        folder, mpis[OPEN_MPI].run, program(), study, folder);
    const int status = system(text);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), 0);
    assert_int_not_equal(WEXITSTATUS(status), 124); /* timeout: it hung */
    run_shell("grep -q 'rank 1' err");
    run_well(study);
    run_shell("rm -f nets/nets/*.tmp-*"); /* what was being written at the moment */
    run_shell("diff -r nets whole");
}

/* What is killed again and again: a study that keeps its nets, and training. */
typedef struct killed {
    const char *command, *output, *leftovers;
} killed;

/* Starts it on some ranks and kills one of them after some time; its exit status. */
static int run_and_kill(const killed *c, uint64_t word)
{
    char text[2048];
    const int ranks = 2 + (int)(word % 3), victim = (int)(word / 8 % (uint64_t)ranks);
    snprintf(text, sizeof text, "echo $$ > pid$OMPI_COMM_WORLD_RANK\nexec %s %s -o %s\n",
             program(), c->command, c->output);
    make_text("go.sh", text);
    snprintf(text, sizeof text,
             "cd %s && rm -f pid*; timeout 240 %s -n %d sh go.sh >out 2>err & job=$!; cd"
             " %s; sleep %.2f; test -e pid%d && kill -9 $(cat pid%d) 2>/dev/null; wait"
             " $job",
             folder, mpis[OPEN_MPI].run, ranks, folder,
             0.1 + (double)(word / 64 % 100) / 50, victim, victim);
    const int status = system(text);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), 124); /* timeout: it hung */
    return WEXITSTATUS(status);
}

static void kill_often(const killed *c, int kills, uint64_t word)
{
    char line[512], same[512];
    snprintf(line, sizeof line, "%s -o %s", c->command, c->output);
    snprintf(same, sizeof same, "rm -f %s; diff -r %s whole && rm -r %s", c->leftovers,
             c->output, c->output);
    run_well(line);
    snprintf(line, sizeof line, "rm -rf whole && mv %s whole", c->output);
    run_shell(line);
    snprintf(line, sizeof line, "%s -o %s", c->command, c->output);
    for (int k = 0; k < kills; k++) {
        word = xb_hash_bytes(word, &k, sizeof k);
        const bool through = run_and_kill(c, word) == 0;
        const bool look = k % 5 == 4 || k == kills - 1;
        if (!through && look) run_well(line); /* one process goes on */
        if (through || look) run_shell(same);
    }
}

/* XB_KILLS sets the number of kills, XB_KILL_SEED the seed of their moments. */
static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Ranks are killed at any moment, whichever; the same command goes on until it is
 * through, to the bytes of an undisturbed run. The moments are those of a fixed seed. */
static void survives_kills(const killed *c)
{
    if (!test_long()) return;
    folder_empty(folder);
    make_images();
    kill_often(c, (int)setting("XB_KILLS", test_exhaustive() ? 25 : 5),
               setting("XB_KILL_SEED", 1));
}

static void studies_survive_kills(void **state)
{
    (void)state;
    survives_kills(
        &(killed){"study energy --quick --widths 1,2,3,4 --depths 1,2 --format svg",
                  "nets", "-r nets/.new.tmp-* nets/nets/*.tmp-*"});
}

static void training_survives_kills(void **state)
{
    (void)state;
    survives_kills(
        &(killed){"train i-images-idx3-ubyte --epochs 60 --mle-epochs 60 --resume"
                  " --checkpoint-seconds 0.1 -q" IMAGE_NET,
                  "m.safetensors", "*.tmp-* *.checkpoint"});
}

/* Ranks that outnumber the cores stand aside, so that more ranks than a batch has blocks
 * are fine, with the bytes of one process; one of them hears a request to stop, too. */
static void ranks_beyond_the_cores_stand_aside(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    enum { BLOCKS = 16, RANKS = BLOCKS + 1 };
    static const char train[] = "train i-images-idx3-ubyte --epochs 1 --mle-epochs 1"
                                " -o m.safetensors -q" IMAGE_NET;
    char text[2048];
    if (xb_os_machine_cores() > BLOCKS) skip();
    folder_empty(folder);
    make_images();
    run_well(train);
    run_shell("mv m.safetensors whole");
    unsetenv("CROSSBAYES_OVERSUBSCRIBE");
    const int code = run_ranks(&mpis[OPEN_MPI], RANKS, train);
    if (code != 0) fail_msg("%d ranks: exit %d: %s", RANKS, code, err_text);
    run_shell("cmp m.safetensors whole && rm m.safetensors");
    const int last = xb_os_machine_cores();
    snprintf(text, sizeof text,
             "echo $$ > pid$OMPI_COMM_WORLD_RANK\nexec %s train i-images-idx3-ubyte"
             " --epochs 9000 --mle-epochs 9000 --checkpoint-seconds 0.05"
             " -o m.safetensors -q" IMAGE_NET "\n",
             program());
    make_text("go.sh", text);
    snprintf(text, sizeof text,
             "cd %s && timeout 60 %s -n %d sh go.sh >out 2>err & job=$!; cd %s; until"
             " test -e m.safetensors.checkpoint; do sleep 0.02; done; kill -TERM $(cat"
             " pid%d); wait $job",
             folder, mpis[OPEN_MPI].run, last + 1, folder, last);
    const int status = system(text);
    setenv("CROSSBAYES_OVERSUBSCRIBE", "1", 1);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 143);
    run_shell("test ! -e m.safetensors && test -e m.safetensors.checkpoint");
}

/* While ranks share the steps of a net one of them is hit, once by each of: a kill, which
 * rank 0 names, and requests to stop, to one rank or to all. What was reached is kept,
 * and another number of ranks goes on from it to the bytes of an undisturbed run. */
static void training_goes_on_on_other_ranks(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    static const struct {
        const char *signal, *at, *says;
        int code, ranks, then;
    } cases[] = {
        {"KILL", "$(cat pid1)", "rank 1: its process, number", 137, 3, 2},
        {"USR1", "$(cat pid0) $(cat pid1)", "stopped on request", 138, 2, 3},
        {"TERM", "$(cat pid1)", "stopped on request", 143, 2, 1},
    };
    static const char train[] = "train i-images-idx3-ubyte --epochs 30 --mle-epochs 30"
                                " --resume --checkpoint-seconds 0.05 -o m.safetensors"
                                " -q" IMAGE_NET;
    char text[2048], line[256];
    folder_empty(folder);
    make_images();
    run_well(train);
    run_shell("mv m.safetensors whole");
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        snprintf(text, sizeof text, "echo $$ > pid$OMPI_COMM_WORLD_RANK\nexec %s %s\n",
                 program(), train);
        make_text("go.sh", text);
        snprintf(
            text, sizeof text,
            "cd %s && timeout 240 %s -n %d sh go.sh >out 2>err & job=$!; cd %s; until"
            " test -e m.safetensors.checkpoint; do sleep 0.02; done; kill -%s %s;"
            " wait $job",
            folder, mpis[OPEN_MPI].run, cases[i].ranks, folder, cases[i].signal,
            cases[i].at);
        const int status = system(text);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[i].code);
        snprintf(line, sizeof line, "grep -q '^crossbayes: .*%s' err && rm -f pid*",
                 cases[i].says);
        run_shell(line);
        run_shell("test ! -e m.safetensors && test $(grep -c ^crossbayes: err) = 1");
        const int code = run_ranks(&mpis[OPEN_MPI], cases[i].then, train);
        if (code != 0) fail_msg("%s: exit %d: %s", cases[i].signal, code, err_text);
        run_shell("cmp m.safetensors whole && rm m.safetensors");
    }
}

/* A request to stop reaches all ranks; what is finished is kept. */
static void a_signal_stops_all_ranks(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    char text[1024];
    folder_empty(folder);
    snprintf(
        text, sizeof text,
        "cd %s && timeout 240 %s -n 2 sh -c 'echo $$ > pid$OMPI_COMM_WORLD_RANK; exec"
        " %s study energy --quick --widths 1,2,3 --depths 1 -o nets' >out 2>err &"
        " job=$!; cd %s; until ls nets/nets/*numbers* >/dev/null 2>&1; do sleep"
        " 0.02; done; kill -USR1 $(cat pid0) $(cat pid1); wait $job",
        folder, mpis[OPEN_MPI].run, program(), folder);
    const int status = system(text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 138);
    run_shell("test $(grep -c ^crossbayes: err) = 1 && test ! -e nets/energy.json");
}

/* With an argument: the tests that it matches, e.g. '*_survive*'. */
int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    if (SANITIZED) setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* MPI's own */
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("CROSSBAYES_OVERSUBSCRIBE", "1", 1); /* all ranks work on the two cores */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_give_the_bytes_of_one_process),
        cmocka_unit_test(a_program_of_path_finds_its_module),
        cmocka_unit_test(trained_models_have_the_bytes_of_one_process),
        cmocka_unit_test(studies_and_scores_have_the_bytes_of_one_process),
        cmocka_unit_test(wrong_use_is_one_line_of_rank_0),
        cmocka_unit_test(ranks_that_differ_are_named),
        cmocka_unit_test(a_rank_that_dies_ends_the_job),
        cmocka_unit_test(a_signal_stops_all_ranks),
        cmocka_unit_test(training_goes_on_on_other_ranks),
        cmocka_unit_test(ranks_beyond_the_cores_stand_aside),
        cmocka_unit_test(studies_survive_kills),
        cmocka_unit_test(training_survives_kills),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
