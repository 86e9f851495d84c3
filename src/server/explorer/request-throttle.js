/** How many requests go out at once and how fast, and waiting when the key's rate is used up. */

/** Requests under way at the same time. */
const AT_ONCE = 3;

export class Pace {
  #underWay = 0;
  /** @type {(() => void)[]} */
  #waiting = [];
  #pausedUntil = 0;
  /** Requests a second that the key may send, and how many of them it could still send at a time of `performance.now()`. */
  #rate = Number.POSITIVE_INFINITY;
  #left = Number.POSITIVE_INFINITY;
  #leftAt = 0;
  #timer = 0;
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

  /**
   * What the answer to a request under way says of the key, so that it is not asked for more than it may. The others
   * under way may not have been counted yet.
   * @param {number} rate requests a second
   * @param {number} remaining
   */
  learn(rate, remaining) {
    this.#rate = rate;
    this.#left = remaining - (this.#underWay - 1);
    this.#leftAt = performance.now();
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
    while (this.#underWay < AT_ONCE && performance.now() >= this.#pausedUntil && this.#waiting.length > 0) {
      this.#refill();
      if (this.#left < 1) return this.#wake(((1 - this.#left) / this.#rate) * 1000);
      this.#left--;
      this.#underWay++;
      this.#waiting.shift()?.();
    }
  }

  #refill() {
    const now = performance.now();
    if (this.#rate < Number.POSITIVE_INFINITY) {
      this.#left = Math.min(this.#rate, this.#left + ((now - this.#leftAt) / 1000) * this.#rate);
    }
    this.#leftAt = now;
  }

  /** @param {number} ms until there is a request left */
  #wake(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#next(), Math.ceil(ms));
  }
}
