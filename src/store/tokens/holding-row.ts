/** A row of `holdings`: what a wallet has of a token. */
export interface HoldingRow {
  token: number;
  wallet: number;
  transfers: number;
  /** Encoded by lib/signed.ts. */
  balance: Buffer;
}
