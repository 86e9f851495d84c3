/** Props of each wallet tab. */
export interface TabProps {
  address: string;
  /** The parameters in the page's URL. */
  params: URLSearchParams;
}
