/** In how many places a change lands, and that none of them can be forgotten. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { CHANGES } from '../../scripts/places/change.ts';
import { type Place, Workshop } from '../../scripts/places/workshop.ts';

const workshop = new Workshop();
after(() => workshop.remove());

for (const { name, goal, edits, tests } of CHANGES) {
  suite(`${name}, made in a copy of the project`, () => {
    let places: Place[] = [];
    before(() => {
      workshop.apply(edits);
      places = workshop.places();
    });

    test(`takes at most ${goal} places in src`, (t) => {
      t.diagnostic(`${places.length} places`);
      assert.ok(places.length <= goal, places.map(({ text }) => text).join('\n'));
    });

    test('passes the type check and its tests', () => {
      const types = workshop.typeCheck(tests);
      assert.ok(types.ok, types.output);
      const run = workshop.test(tests);
      assert.ok(run.ok, run.output);
    });

    test('fails the type check or a test without any one of them', () => {
      for (const place of places) {
        workshop.takeAway(place, places);
        assert.ok(
          !workshop.typeCheck(tests).ok || !workshop.test(tests).ok,
          `nobody notices that this is missing:\n${place.text}`,
        );
        workshop.putBack(place, places);
      }
    });
  });
}
