/** A field on the page of an NFT contract that opens one of its tokens. */
import { useState } from 'preact/hooks';
import { nftPath } from '../../ui/link.tsx';
import { navigate } from '../../ui/router.ts';
import { tokenNumberIn } from './nft.ts';

export function NftSearch({ token }: { token: string }) {
  const [problem, setProblem] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget instanceof HTMLFormElement ? new FormData(event.currentTarget) : null;
    const id = tokenNumberIn(String(form?.get('id') ?? ''));
    if (id === null) return setProblem('A token number is a whole number of at most 78 digits.');
    setProblem('');
    navigate(nftPath(token, id));
  };
  return (
    <form class="controls" onSubmit={submit}>
      <label htmlFor="nft-id">Token number</label>
      <input id="nft-id" name="id" type="text" inputmode="numeric" autocomplete="off" size={12} />
      <button type="submit" class="button">
        Show
      </button>
      {problem !== '' && (
        <span class="small bad" role="alert">
          {problem}
        </span>
      )}
    </form>
  );
}
