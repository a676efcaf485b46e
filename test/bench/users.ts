import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { openStore } from '../../src/store/index.ts'

/** Creates a SQLite database with users, each with one token. Returns the tokens. */
export const addUsers = async (file: string, users: number): Promise<readonly string[]> => {
  const store = openStore(`sqlite:${file}`)
  await store.migrate()
  const tokens = Array.from({ length: users }, () => createToken())
  for (const [nth, token] of tokens.entries()) {
    const createdAt = Date.now()
    const user = await store.addUser({ name: `user ${nth}`, createdAt })
    if (user === undefined) throw new Error('the database is not empty')
    await store.addToken({ user, hash: hashToken(token), start: token.slice(0, 9), createdAt })
  }
  await store.close()
  return tokens
}
