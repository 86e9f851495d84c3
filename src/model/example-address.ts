/** An address that the explorer's home page suggests to visitors. */
export interface ExampleAddress {
  name: string;
  /** What the address shows. */
  about: string;
  /** `0x` and 40 hex digits in lower case. */
  address: string;
}
