import type { VideoTask } from '../tasks/task.ts'
import type { VideoResult } from '../tasks/tasks.ts'
import type { LinkResult } from '../tasks/view.ts'

/** A storage for results: `createResultStorage` of `sluice/file-storage`, or one of the host app. */
export interface VideoResultStorage {
  /** How long copies are kept after the end of their task, in milliseconds. */
  readonly keepMs: number
  /** The maximum time of `copy`, in milliseconds. */
  readonly timeoutMs: number
  /** Copies a file of the upstream, and resolves with its key. When it rejects, nothing remains. */
  copy(file: VideoResultFile): Promise<string>
  /** A link to a copy, which needs no credential, until `expiresAt`: the same one each time. */
  linkTo(key: string, expiresAt: number): string
  /** Removes copies. Never rejects. */
  remove(keys: readonly string[]): Promise<void>
}

/** A file of a result. Times are milliseconds since 1970. */
export interface VideoResultFile {
  readonly url: string
  /** The beginning of the name of the copy. */
  readonly name: string
  readonly media: 'video' | 'image'
  readonly user: string
  readonly expiresAt: number
  readonly signal?: AbortSignal | undefined
}

/** Where the copies of a result are: what the store keeps as `result` of a task, as JSON. */
export interface ResultCopies {
  readonly video?: string
  readonly lastFrame?: string
  readonly expiresAt: number
}

/** The copies of a task's result. Undefined: there are none. */
export const copiesOf = ({ result }: Pick<VideoTask, 'result'>): ResultCopies | undefined =>
  result === undefined ? undefined : JSON.parse(result)

/** The keys of the copies of a task's result. */
export const keysOf = (task: Pick<VideoTask, 'result'>): readonly string[] => {
  const { video, lastFrame } = copiesOf(task) ?? {}
  return [video, lastFrame].filter((key) => key !== undefined)
}

/** Links to the copies of results in a storage. */
export const linksTo =
  ({ linkTo }: Pick<VideoResultStorage, 'linkTo'>): LinkResult =>
  (task) => {
    const found = copiesOf(task)
    if (!found) return undefined
    const { expiresAt, ...copies } = found
    const links: { -readonly [Name in keyof VideoResult['links']]: VideoResult['links'][Name] } = {}
    for (const name of ['video', 'lastFrame'] as const) {
      const key = copies[name]
      if (key !== undefined) links[name] = linkTo(key, expiresAt)
    }
    return { expiresAt, copies, links }
  }
