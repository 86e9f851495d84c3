/** Paths of the explorer's pages, the same as those of other explorers. */

export const addressPath = (address: string) => `/address/${address}`;
export const tokenPath = (token: string) => `/token/${token}`;
export const transactionPath = (hash: string) => `/tx/${hash}`;
export const blockPath = (block: number | string) => `/block/${block}`;
export const searchPath = (text: string) => `/search?q=${encodeURIComponent(text)}`;
