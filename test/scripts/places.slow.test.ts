/** In how many places a change lands, and that none of them can be forgotten. */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { FILTER_MEMBER } from '../../scripts/places/change.ts';
import { Workshop } from '../../scripts/places/workshop.ts';

for (const { name, goal, edits, tests } of [FILTER_MEMBER]) {
  suite(`${name}, made in a copy of the project`, () => {
    const workshop = new Workshop();
    after(() => workshop.remove());
    workshop.apply(edits);
    const hunks = workshop.hunks();

    test(`takes at most ${goal} places in src`, (t) => {
      t.diagnostic(`${hunks.length} places`);
      assert.ok(hunks.length <= goal, hunks.join('\n'));
    });

    test('passes the type check and its tests', () => {
      const types = workshop.typeCheck();
      assert.ok(types.ok, types.output);
      const run = workshop.test(tests);
      assert.ok(run.ok, run.output);
    });

    test('fails the type check or a test without any one of them', () => {
      for (const hunk of hunks) {
        workshop.takeAway(hunk);
        assert.ok(
          !workshop.typeCheck().ok || !workshop.test(tests).ok,
          `nobody notices that this is missing:\n${hunk}`,
        );
        workshop.putBack(hunk);
      }
    });
  });
}
