/** A file of a form that has been stored. */
export interface FormFile {
  /** Its name, as its sender says it, without a path. Empty: it has none. */
  readonly name: string
  readonly media: 'image' | 'video' | 'audio'
  /** A link to the file that needs no credential, for some time. */
  readonly url: string
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly digest: string
}

/** Stores the files of forms: `createFormUploads` of `sluice/file-storage` is one. */
export interface FormFiles {
  /**
   * Stores each file of a `multipart/form-data` body (RFC 7578) while it comes, as an upload of the user.
   *
   * Throws Problem, and leaves no file: 400 for a body that is not valid or has no file, 408, 413 and 415 as an upload
   * does, with the number of the file, and 429 above the quota of the user.
   *
   * @param caller the user, and the id of the token, if there is one
   * @param maxFiles more are 400
   */
  receive(
    request: Request,
    caller: { readonly user: string; readonly token?: string | undefined },
    maxFiles: number,
  ): Promise<readonly FormFile[]>
  /**
   * Lets files of forms of a user end at a time, unless they do so earlier: nothing needs them any more. It leaves
   * other links alone. Never rejects.
   *
   * @param at milliseconds since 1970
   */
  end(urls: readonly string[], user: string, at: number): Promise<void>
  /** Removes files that `receive` has stored. Never rejects: what cannot be removed now expires. */
  discard(files: readonly FormFile[]): Promise<void>
}
