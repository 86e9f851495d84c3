/** How many requests go out at once and how fast, and waiting when the key's rate is used up. */

/** Requests in flight at the same time. */
const MAX_IN_FLIGHT = 3;

export class RequestThrottle {
  #inFlight = 0;
  /** @type {(() => void)[]} */
  #queue = [];
  #pausedUntil = 0;
  /** Requests a second that the key may send, and how many of them it could still send at a time of `performance.now()`. */
  #rate = Number.POSITIVE_INFINITY;
  #tokens = Number.POSITIVE_INFINITY;
  #refilledAt = 0;
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
    await this.#acquire();
    try {
      return await request();
    } finally {
      this.#inFlight--;
      this.#dispatch();
    }
  }

  /**
   * What the answer to a request in flight says of the key, so that it is not asked for more than it may. The others
   * in flight may not have been counted yet.
   * @param {number} rate requests a second
   * @param {number} remaining
   */
  updateLimits(rate, remaining) {
    this.#rate = rate;
    this.#tokens = remaining - (this.#inFlight - 1);
    this.#refilledAt = performance.now();
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
        this.#dispatch();
      },
      seconds * 1000 + 5,
    );
  }

  /** @returns {Promise<void>} */
  #acquire() {
    return new Promise((resolve) => {
      this.#queue.push(resolve);
      this.#dispatch();
    });
  }

  #dispatch() {
    while (
      this.#inFlight < MAX_IN_FLIGHT &&
      performance.now() >= this.#pausedUntil &&
      this.#queue.length > 0
    ) {
      this.#refill();
      if (this.#tokens < 1) return this.#dispatchLater(((1 - this.#tokens) / this.#rate) * 1000);
      this.#tokens--;
      this.#inFlight++;
      this.#queue.shift()?.();
    }
  }

  #refill() {
    const now = performance.now();
    if (this.#rate < Number.POSITIVE_INFINITY) {
      this.#tokens = Math.min(this.#rate, this.#tokens + ((now - this.#refilledAt) / 1000) * this.#rate);
    }
    this.#refilledAt = now;
  }

  /** @param {number} ms until there is a request left */
  #dispatchLater(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#dispatch(), Math.ceil(ms));
  }
}
