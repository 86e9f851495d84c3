/** Limits the work done in one turn of the event loop, so that other clients do not wait. */
export class TurnBudget {
  private readonly perTurn: number;
  private left: number;
  private isSpending = false;

  constructor(perTurn: number) {
    this.perTurn = perTurn;
    this.left = perTurn;
  }

  /** Counts work done; false if the rest must wait for the next turn. */
  spend(amount: number): boolean {
    this.left -= amount;
    if (!this.isSpending) {
      this.isSpending = true;
      setImmediate(() => {
        this.isSpending = false;
        this.left = this.perTurn;
      });
    }
    return this.left > 0;
  }
}
