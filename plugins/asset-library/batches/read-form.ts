import { toJson } from '../../shared/json/json.ts'
import type { FormFile, FormFiles } from '../../shared/media/form-files.ts'
import { Problem } from '../../shared/problem.ts'
import { isStorableName, maxItems, type NewItem } from './read-batch.ts'

/** The type of an asset, by the kind of its file. */
const assetTypes = { image: 'Image', video: 'Video', audio: 'Audio' } as const

/** Whether a request sends a form. */
export const sendsForm = ({ headers }: Request): boolean =>
  /^\s*multipart\/form-data\b/i.test(headers.get('content-type') ?? '')

/** The files of a form as a batch. */
export interface BatchForm {
  readonly files: readonly FormFile[]
  readonly items: readonly NewItem[]
  /** What a repetition of the request sends again: the names and the contents, not the addresses. */
  readonly bytes: Uint8Array
}

/**
 * Stores the files of a form, and makes an item of each, which has the name of the file.
 *
 * Throws Problem as `FormFiles.receive` does, and 400 for two files of one name. No file is left then.
 */
export const readBatchForm = async (
  request: Request,
  caller: Parameters<FormFiles['receive']>[1],
  store: FormFiles,
  nameOf: (position: number) => string,
): Promise<BatchForm> => {
  const files = await store.receive(request, caller, maxItems)
  try {
    const numbers = new Map<string, number>()
    const items = files.map(({ name: given, media, url }, index): NewItem => {
      const number = index + 1
      const name = given === '' ? nameOf(number) : given
      if (!isStorableName(name)) throw inFile(number, 'must have a name that is valid Unicode')
      const earlier = numbers.get(name)
      if (earlier !== undefined) throw inFile(number, `has the name of file ${earlier}; give each file its own`)
      numbers.set(name, number)
      return { name, body: toJson({ URL: url, AssetType: assetTypes[media], Name: name }).raw }
    })
    const sent = files.map(({ name, media, digest }) => [name, media, digest])
    return { files, items, bytes: new TextEncoder().encode(JSON.stringify(sent)) }
  } catch (error) {
    await store.discard(files)
    throw error
  }
}

const inFile = (number: number, what: string) => new Problem(400, `file ${number} ${what}`)
