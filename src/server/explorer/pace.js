/** How many requests go out at once, and waiting when the key's rate is used up. */

/** Requests under way at the same time. */
const AT_ONCE = 3;

export class Pace {
  #underWay = 0;
  /** @type {(() => void)[]} */
  #waiting = [];
  #pausedUntil = 0;
  /** @type {(seconds: number) => void} */
  #onPause;

  /** @param {(seconds: number) => void} onPause called with the seconds of a pause, and with 0 when it is over */
  constructor(onPause) {
    this.#onPause = onPause;
  }

  /**
   * Runs a request as soon as it is its turn.
   * @template T
   * @param {() => Promise<T>} request
   * @returns {Promise<T>}
   */
  async run(request) {
    await this.#turn();
    try {
      return await request();
    } finally {
      this.#underWay--;
      this.#next();
    }
  }

  /** @param {number} seconds in which nothing new goes out */
  pause(seconds) {
    const until = performance.now() + seconds * 1000;
    if (until <= this.#pausedUntil) return;
    this.#pausedUntil = until;
    this.#onPause(seconds);
    setTimeout(
      () => {
        if (performance.now() < this.#pausedUntil) return;
        this.#onPause(0);
        this.#next();
      },
      seconds * 1000 + 5,
    );
  }

  /** @returns {Promise<void>} */
  #turn() {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#next();
    });
  }

  #next() {
    while (this.#underWay < AT_ONCE && performance.now() >= this.#pausedUntil) {
      const start = this.#waiting.shift();
      if (start === undefined) return;
      this.#underWay++;
      start();
    }
  }
}
