import { drawPng } from './picture.ts'
import { scenes } from './scenes.ts'

/** What `fillLibrary` depends on. */
export interface FillLibraryOptions {
  /** Address of the gateway. */
  readonly url: string
  /** A token of the user whose library it becomes. */
  readonly token: string
  /** The model of the video. */
  readonly videoModel: string
}

/**
 * Fills the library of a user, through the API: uploads pictures, creates a group with an asset of each, and a
 * video. Rejects when a request fails.
 */
export const fillLibrary = async ({ url, token, videoModel }: FillLibraryOptions): Promise<void> => {
  const ask = async (path: string, body: Uint8Array<ArrayBuffer> | object) => {
    const isFile = body instanceof Uint8Array
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': isFile ? 'image/png' : 'application/json' },
      body: isFile ? body : JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as {
      readonly Result: { readonly Id: string }
      readonly upload: { readonly url: string }
    }
  }
  const library = '/api/media/proxy/assets'
  const description = 'Pictures of the demo. They were drawn, and uploaded when it started.'
  const { Result: group } = await ask(`${library}/groups`, { Name: 'Landscapes', Description: description })
  for (const [name, scene] of Object.entries(scenes)) {
    const { upload } = await ask('/api/uploads', new Uint8Array(drawPng(scene)))
    await ask(library, { GroupId: group.Id, URL: upload.url, AssetType: 'Image', Name: name })
  }
  const prompt = { type: 'text', text: 'Slow waves on a beach at sunset, seen from above' }
  await ask('/api/v3/contents/generations/tasks', { model: videoModel, content: [prompt] })
}
