import type { User } from '../support/gateway.ts'
import { chatOf } from './text-fixture.ts'

type Sender = Pick<User, 'token' | 'ask'>

export const png = (name: string): Buffer<ArrayBuffer> =>
  Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from(name)])

/** Uploads a file to a gateway, and creates an asset of it. Resolves with its id. */
export const addUploaded = async (
  url: string,
  { token, ask }: Sender,
  GroupId: string,
  Name: string,
): Promise<string> => {
  const headers = { authorization: `Bearer ${token}` }
  const uploaded = await fetch(`${url}/api/uploads`, { method: 'POST', headers, body: png(Name) })
  const { upload } = (await uploaded.json()) as { readonly upload: { readonly url: string } }
  const { status, text, json } = await ask('POST', '/assets', { GroupId, Name, URL: upload.url, AssetType: 'Image' })
  if (status !== 200) throw new Error(text)
  return json.Result.Id
}

export const detailOf = async ({ ask }: Pick<Sender, 'ask'>, id: string) =>
  (await ask('GET', `/assets/${id}`)).json.Result

/** Asks a model of the emulator about an asset. Resolves with the status of the response when it has ended. */
export const askAbout = async (url: string, { token }: Pick<Sender, 'token'>, id: string): Promise<number> => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...chatOf([id], false), model: 'doubao-seed-emulated' }),
  })
  await response.text()
  return response.status
}
