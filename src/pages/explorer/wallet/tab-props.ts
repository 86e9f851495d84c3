/** What each tab of a wallet gets. */
export interface TabProps {
  address: string;
  /** The parameters of the page's address. */
  params: URLSearchParams;
}
