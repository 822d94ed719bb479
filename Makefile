# SPDX-License-Identifier: Apache-2.0
# A thin front of meson and of the scripts; HACKING.md says what each target is for.
BUILD ?= build
GOLDEN = $(BUILD)/tests/golden/dray-golden

all: $(BUILD)/build.ninja
	ninja -C $(BUILD) dray

# With the tests and benchmarks.
everything: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	meson setup $(BUILD)

demo:
	scripts/install-deps
	$(MAKE) all
	scripts/demo $(BUILD)/dray

test:
	scripts/install-deps
	$(MAKE) everything
	scripts/run-tests $(BUILD)

test-more:
	scripts/install-deps --more
	scripts/test-more

golden: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet tests/golden/dray-golden
	@$(GOLDEN) $(if $(FOLDER),--folder '$(FOLDER)') $(if $(ID),--id '$(ID)') $(ARGS)

bench: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet
	@scripts/bench $(BUILD) $(ID)

fuzz:
	scripts/fuzz $(or $(TARGET),all) $(or $(SECONDS),60)

diff: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet
	scripts/diff $(BUILD) $(or $(SECONDS),600)

test-peers: all
	tests/peers/run-clients $(BUILD)/dray $(ARGS)
	$(if $(ARGS),,tests/peers/run-sessions $(BUILD)/dray)
	$(if $(ARGS),,tests/peers/compare-openapi $(BUILD)/dray)
	$(if $(ARGS),,tests/peers/run-claims $(BUILD)/dray)
	$(if $(ARGS),,tests/peers/run-workloads $(BUILD)/dray)

crash: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet dray tests/store/store_crash tests/server/server_crash
	cd $(BUILD)/tests/store && DRAY_CRASHES=$(or $(TIMES),10000) ./store_crash
	cd $(BUILD)/tests/server && DRAY_CRASHES=$(or $(TIMES),10000) ./server_crash ../../dray
	DRAY_CRASHES=$(or $(TIMES),10000) tests/server/upcrash $(BUILD)/dray

coverage:
	scripts/coverage

install: all
	meson install -C $(BUILD)

clean:
	rm -rf build build-*

.PHONY: all everything demo test test-more test-peers golden bench fuzz diff crash coverage install clean
