/** Dialogs: a confirmation, a form, and a secret that is shown once. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { CopyButton } from '../ui/copy.tsx';

/** Why an action failed. Empty if it did not. */
export function Problem({ text }: { text: string }) {
  if (text === '') return null;
  return (
    <p class="notice bad" role="alert">
      {text}
    </p>
  );
}

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Escape does not close it, because its content would be lost. */
  keepsOpen?: boolean;
  children: ComponentChildren;
}

/** Returns the focus to the element that had it. */
export function Dialog({ title, onClose, keepsOpen = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // At once, not after the next frame: a key pressed meanwhile belongs to the dialog, and afterwards to its opener.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close(); // nothing outside an open dialog can have the focus
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      closedby={keepsOpen ? 'none' : 'closerequest'}
      onCancel={(event) => {
        event.preventDefault();
        if (!keepsOpen) onClose();
      }}
    >
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  text: string;
  /** Label of the confirming button. */
  action: string;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before an irreversible action. The safe answer has the focus. */
export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div class="buttons end">
        <button type="button" class="button" autofocus onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="button danger"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}

/** A key or another secret that only this answer contains. */
export function SecretOnce({
  title,
  secret,
  onClose,
}: {
  title: string;
  secret: string;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose} keepsOpen>
      <p>It is shown only once and never stored. Send it to its owner over a secure channel.</p>
      <p class="secret mono">{secret}</p>
      <div class="buttons">
        <CopyButton text={secret} label="Copy" class="button main" />
        <button type="button" class="button" onClick={onClose}>
          I have saved it, close
        </button>
      </div>
    </Dialog>
  );
}
