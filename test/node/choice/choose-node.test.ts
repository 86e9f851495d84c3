import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FLOOR_MS,
  initialChoice,
  type NodeChoice,
  type NodeEvent,
  reduceChoice,
} from '../../../src/node/choice/choose-node.ts';

const QUIET_MS = 10_000;

/** A choice among nodes, driven by events at given times. */
class Course {
  state: NodeChoice;
  now = 0;

  constructor(count = 2) {
    this.state = initialChoice(count);
  }

  apply(event: NodeEvent): this {
    this.state = reduceChoice(this.state, event, this.now, { quietMs: QUIET_MS });
    return this;
  }

  answers(node: number, head: number): this {
    const { floor } = this.state;
    return this.apply({ kind: 'answered', node, head, floor, latencyMs: 1, relation: 'same', reason: null });
  }

  differs(node: number, head: number, relation: 'another_chain' | 'another_fork'): this {
    const { floor } = this.state;
    return this.apply({
      kind: 'answered',
      node,
      head,
      floor,
      latencyMs: 1,
      relation,
      reason: 'another hash',
    });
  }

  fails(node: number): this {
    return this.apply({ kind: 'failed', node, reason: 'refused' });
  }

  after(ms: number): this {
    this.now += ms;
    return this;
  }

  get health(): string[] {
    return this.state.nodes.map(({ health }) => health);
  }

  uses(node: number, why: string): this {
    assert.equal(this.state.current, node, why);
    return this;
  }
}

test('a failed node is left at once, and used again after a quiet time', () => {
  const course = new Course().answers(0, 10).answers(1, 10).uses(0, 'the first is preferred');
  course.fails(0).uses(1, 'it failed');
  course.after(1_000).answers(0, 12).answers(1, 12).uses(1, 'it only just recovered');
  assert.deepEqual(course.health, ['recovering', 'healthy']);
  course
    .after(QUIET_MS / 2)
    .fails(0)
    .answers(0, 13)
    .uses(1, 'it failed again');
  course.after(QUIET_MS).answers(1, 14).answers(0, 13).uses(1, 'its head is below what clients saw');
  course.answers(0, 14).uses(0, 'it was quiet and is as far');
});

test('a node is used only once its head reaches what clients have seen', () => {
  const course = new Course().answers(0, 10).answers(1, 9).apply({ kind: 'seen', head: 11 });
  course.fails(0).uses(0, 'the second is at 9, clients saw 11');
  course.after(100).answers(1, 10).uses(0, 'not yet');
  course.after(100).answers(1, 11).uses(1, 'now it has what clients saw');
});

test('blocks that only a lost node had are abandoned after a minute', () => {
  const course = new Course().answers(0, 10).answers(1, 9).fails(0);
  course
    .after(FLOOR_MS - 1)
    .answers(1, 9)
    .uses(0, 'they may still come');
  course.after(1).answers(1, 9).uses(1, 'no node has them');
  assert.equal(course.state.floor, 9);
});

test('a node that falls behind for a second is left', () => {
  const course = new Course().answers(0, 10).answers(1, 10);
  course.answers(1, 14).uses(0, 'four blocks behind for a moment');
  course.after(500).answers(0, 13).answers(1, 14).uses(0, 'it caught up');
  course.answers(1, 18).after(900).answers(0, 13).uses(0, 'not for a second');
  course.after(100).answers(0, 13).uses(1, 'behind for a second');
  assert.equal(course.health[0], 'behind');
  course.after(100).answers(0, 18).uses(1, 'recovering');
  course.after(QUIET_MS).answers(0, 19).uses(0, 'it is quiet and ahead');
});

test('a node on another chain or fork is refused, with the reason, and never used', () => {
  const course = new Course(3).answers(0, 10).differs(1, 50, 'another_fork').differs(2, 99, 'another_chain');
  course
    .uses(0, 'its head counts for nothing')
    .after(5_000)
    .answers(0, 10)
    .uses(0, 'nor makes it the others late');
  course.fails(0).uses(0, 'neither may be used');
  assert.deepEqual(course.health, ['failing', 'another_fork', 'another_chain']);
  assert.equal(course.state.nodes[1]?.reason, 'another hash');
  course.answers(1, 11).uses(1, 'it is back on the chain');
});

test('a reorg of the node in use is no other fork, until the index refuses it', () => {
  const course = new Course().answers(0, 10).answers(1, 10);
  course.differs(0, 11, 'another_fork').uses(0, 'the index follows a reorg');
  course
    .apply({ kind: 'refused', relation: 'another_fork', reason: 'too deep' })
    .uses(0, 'the other is below 11');
  course.answers(1, 11).uses(1, 'the other is on the indexed chain');
  course.after(QUIET_MS).differs(0, 12, 'another_fork').uses(1, 'still refused');
});

test('with no usable node the last one stays, and the first to answer is used', () => {
  const course = new Course(3).answers(0, 5).answers(1, 5).answers(2, 5);
  course.fails(0).uses(1, 'the next one').fails(1).uses(2, 'the last one').fails(2).uses(2, 'none is left');
  course.after(30_000).answers(1, 5).uses(1, 'it answers, quiet or not');
});

test('a node that is down from the start is replaced before it has ever answered', () => {
  new Course().fails(0).uses(0, 'nothing is known of the other').answers(1, 7).uses(1, 'it answers');
});
