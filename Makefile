# make demo    install, then lint, render and simulate the example fabric
# make test    the tests, but for those of real tools and long runs; says what it left out
# make test-tools  those: a browser, opensm, promtool, redis, ansible, a cluster, mutated files, drawn laws, whole records, all printed answers
# make tools   install the real tools, by apt and npm
# make quick   make test without the files that take longest (tests/heaviest.txt)
# make affected  the tests that depend on what differs from BASE (HEAD unless stated)
# make rule CODE=WD020  write the rows of rules again, record one rule, write its pages, and run what can fail by it
# make durations  make test, which then writes tests/heaviest.txt again
# make instructions  count what lossless executes, against the figures on record (needs valgrind)
# make check   all static checks: formatting, lint, generated files, retired phrases, prose, types
# make prose   spelling and grammar alone, by Harper (needs npm)
# make bench   the benchmarks, as ratios to a bare interpreter
# make corpus  what the rules say of upstream's configurations and of what is on record; what of them an import gives back; what verify says of captures
# make gcu     our model of SONiC's config updater against verdicts that are recorded from the real one
# make docs    write the generated documentation again
# make site    build the documentation site into out/site/html
# make audit   the site in a browser: axe-core on every page, at both widths, light and dark (slow)
# make answers what commands print in the README, the tutorial, the FAQ and the guides, written again
# make values  what rules say of their examples and of changes to them, searched for and recorded again (slow)
# make mutants  deliberate faults in five packages, which their own tests must notice (slow)
# make cases  all tests with every case of those that take some of theirs (slow)
# make mutations  every rendered field changed alone: what lint says, and what it misses (slow)
# make laws    the laws between commands, for ten minutes on fabrics that are drawn again
# make fuzz    commands on changed files, from each of SEEDS, INPUTS of them or for SECONDS seconds; what breaks one, or a law, becomes an input of the tests
# make release  build the packages of this commit twice and compare them; SBOM, section of the changelog and checksums beside them
# make lock    write the locked requirements again from pyproject.toml, and their versions into the hooks for pre-commit

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= out/demo
PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup
JUNIT = --junitxml=out/durations/$@.xml
BASE ?= HEAD

# With it each worker rewrites all asserts, and each command that a test starts compiles all of its modules.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: release tools test-tools quick affected rule durations instructions ready demo test check format lint generated phrases prose types bench corpus gcu values mutants cases mutations laws fuzz docs answers site audit lock clean

demo: $(VENV)/run.stamp
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh $(OUT)

ready: $(VENV)/dev.stamp profiles/compiled.json
	@$(BIN)/python tools/precompile.py

test: ready
	$(PYTEST) -m "not tools" -rs $(JUNIT)

test-tools: ready $(VENV)/docs.stamp
	$(PYTEST) -n $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -m tools -rs $(JUNIT)

tools: $(VENV)/docs.stamp
	@for script in tools/install-*.sh; do sh $$script --required || exit 1; done

quick: ready
	@$(BIN)/python tools/durations.py --left-out
	$(PYTEST) -m "not tools" $$($(BIN)/python tools/durations.py --ignore)

affected: ready
	@files=$$($(BIN)/python tools/affected.py $(BASE)) && if [ -n "$$files" ]; then $(PYTEST) $$files; fi

rule: ready
	$(BIN)/python tools/compile_rules.py
	$(BIN)/python tools/one_rule.py $(CODE)

durations: ready
	$(PYTEST) -m "not tools" $(JUNIT)
	$(BIN)/python tools/durations.py --record out/durations/$@.xml

instructions: $(VENV)/run.stamp
	$(BIN)/python tools/instructions.py

check: types format lint generated phrases prose

format: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .

generated: $(VENV)/dev.stamp
	$(BIN)/python tools/rule_pages.py --check docs/rules
	$(BIN)/python tools/incident_page.py --check
	$(BIN)/python tools/attribute_page.py --check
	$(BIN)/python tools/intent_reference.py --check
	$(BIN)/python tools/preset_page.py --check
	$(BIN)/python tools/metrics_page.py --check
	$(BIN)/python tools/capture_table.py --check
	$(BIN)/python tools/dialect_rules.py --check
	$(BIN)/python tools/compile_profiles.py --check
	$(BIN)/python tools/compile_rules.py --check
	$(BIN)/python tools/architecture.py --check
	$(BIN)/python tools/hook_versions.py --check

phrases: $(VENV)/dev.stamp
	$(BIN)/python tools/phrases.py

types: $(VENV)/dev.stamp
	$(BIN)/mypy

prose: $(VENV)/dev.stamp
	@sh tools/install-harper.sh --required
	$(BIN)/python tools/prose.py

bench: $(VENV)/dev.stamp
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/readers.py
	$(BIN)/python benchmarks/formats.py
	$(BIN)/python benchmarks/running_configs.py
	$(BIN)/python benchmarks/exporter.py
	$(BIN)/python benchmarks/render.py
	$(BIN)/python benchmarks/render_many.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/plan.py
	$(BIN)/python benchmarks/deadlock.py
	$(BIN)/python benchmarks/many.py
	$(BIN)/python benchmarks/yaml.py
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/tune.py --workload checkpoint examples/roce-256
	$(BIN)/python benchmarks/published.py
	$(BIN)/python benchmarks/packet_sim.py --summary $(or $(LOSSLESS_REFERENCE),../shared)/reference/packet-sim/*.json

corpus: $(VENV)/dev.stamp
	$(BIN)/python tools/corpus.py $(or $(LOSSLESS_REFERENCE),../shared)/corpus
	$(BIN)/python tools/corpus_import.py $(or $(LOSSLESS_REFERENCE),../shared)/corpus
	$(BIN)/python tools/capture_verdicts.py $(or $(LOSSLESS_REFERENCE),../shared)/captures/state

gcu: $(VENV)/dev.stamp
	$(BIN)/python tools/check_gcu.py $(or $(LOSSLESS_REFERENCE),../shared)/reference/gcu

values: $(VENV)/dev.stamp
	$(BIN)/python -m tests.checks.rules.recorded
	git diff --exit-code --stat tests/checks/rules

mutants: $(VENV)/dev.stamp
	nice $(BIN)/python tools/mutants.py

cases: $(VENV)/dev.stamp
	LOSSLESS_ALL_CASES=1 nice $(BIN)/python -m pytest -n auto --dist loadgroup

mutations: $(VENV)/dev.stamp
	nice $(BIN)/python tools/changed_fields.py --packets

laws: $(VENV)/dev.stamp
	$(BIN)/python tools/laws.py

SEEDS ?= 1 2 3
INPUTS ?= 20000
SECONDS ?= 2400

fuzz: $(VENV)/dev.stamp profiles/compiled.json
	$(BIN)/python tools/fuzz.py --seed $(SEEDS) --inputs $(INPUTS) --seconds $(SECONDS) --branches 300 --keep

docs: $(VENV)/dev.stamp answers
	$(BIN)/python tools/compile_rules.py
	$(BIN)/python tools/rule_pages.py docs/rules
	$(BIN)/python tools/incident_page.py
	$(BIN)/python tools/attribute_page.py
	$(BIN)/python tools/headroom_guide.py
	$(BIN)/python tools/dashboard_pictures.py
	$(BIN)/python tools/intent_reference.py
	$(BIN)/python tools/preset_page.py
	$(BIN)/python tools/metrics_page.py
	$(BIN)/python tools/capture_table.py
	$(BIN)/python tools/dialect_rules.py
	$(BIN)/python tools/architecture.py
	$(BIN)/python tools/hook_versions.py
	$(BIN)/python tools/compile_profiles.py

answers: $(VENV)/dev.stamp
	$(BIN)/python tools/answers.py

site: $(VENV)/docs.stamp
	$(BIN)/python tools/build_site.py

audit: $(VENV)/docs.stamp
	@sh tools/install-browser.sh --required
	LOSSLESS_AUDIT_ALL=1 $(BIN)/python -m pytest -n 0 tests/site

profiles/compiled.json: $(VENV)/dev.stamp $(wildcard profiles/nics/*.toml profiles/switches/*.toml)
	$(BIN)/python tools/compile_profiles.py
	@touch $@

# pip compiles no dependencies: Python compiles a module when it is first imported, and most never are.
$(VENV)/python.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lossless needs Python 3.11 or newer; name one: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/run.stamp: $(VENV)/python.stamp requirements/run.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q -j 0 lossless
	@touch $@

$(VENV)/dev.stamp: $(VENV)/python.stamp requirements/dev.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q -j 0 lossless
	@touch $@

$(VENV)/docs.stamp: $(VENV)/python.stamp requirements/docs.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/docs.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/release.stamp: $(VENV)/dev.stamp requirements/release.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/release.txt
	@touch $@

release: $(VENV)/release.stamp
	$(BIN)/python tools/release.py

lock: $(VENV)/python.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/lock.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	  requirements/lock.in -o requirements/lock.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	  pyproject.toml requirements/build.in --extra sim -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	  pyproject.toml requirements/build.in -c requirements/run.txt -o requirements/base.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	  pyproject.toml requirements/build.in --extra dev -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	  pyproject.toml requirements/build.in --extra sim --extra docs -c requirements/dev.txt -o requirements/docs.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	  --resolution lowest-direct pyproject.toml -o requirements/lowest.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	  requirements/release.in -c requirements/dev.txt -o requirements/release.txt
	$(BIN)/python -m tools.hook_versions

clean:
	rm -rf $(VENV) out build dist
