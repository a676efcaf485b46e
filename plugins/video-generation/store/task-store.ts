import type { VideoNotice, VideoTask, VideoUsage } from '../tasks/task.ts'

/** A row: a task, the state of a pool, or what else the queue keeps. */
export interface VideoRow {
  readonly key: string
  /** Another one after each change of the row. */
  readonly version: string
  /**
   * Text, which the store keeps unchanged. In the row of a request it has up to `maxBodyBytes` bytes, in others some
   * kilobytes.
   */
  readonly value: string
  /** The lists that have the row, at most five. */
  readonly lists: readonly VideoListEntry[]
}

/** The place of a row in a list. */
export interface VideoListEntry {
  readonly list: string
  /** ASCII text by which the list is ordered. No two rows have the same one in a list. */
  readonly position: string
}

/** A change of a row. */
export interface VideoRowChange {
  readonly key: string
  /** The version that the row must have. Undefined: there must be no such row. */
  readonly from: string | undefined
  /** The new row, in place of all that the old one was. Undefined: the row is removed. */
  readonly to: VideoRow | undefined
}

/** Part of a list. */
export interface VideoListRange {
  /** Only positions after that one. */
  readonly above?: string | undefined
  /** Only positions before that one. */
  readonly below?: string | undefined
  /** The last positions first. Default false. */
  readonly descending?: boolean
  /** The most rows: at least 1. */
  readonly limit: number
}

/** What happened to a task with a change. Times are milliseconds since 1970. */
export interface VideoNews {
  /** The task after the change, or the task that was deleted. */
  readonly task: VideoTask
  readonly at: number
  /** What its user is told: an event, and perhaps a delivery to an address of the caller. */
  readonly notice?: VideoNotice
  /** What it has used. Each task has it at most once. */
  readonly usage?: VideoUsage
}

/**
 * Store port: rows, from which the plugin makes the tasks of all users and their queue. All processes share them.
 *
 * A read sees every change that was made before it began. Every method rejects when the store does not respond in time;
 * then it is unknown whether a change was made.
 *
 * The state of a pool is one row, which has the users with tasks in it, and which each start and end of a task changes.
 * So such a store is for some hundred users at once; that of `sluice/store` is for more.
 */
export interface VideoTaskStore {
  /** The row with a key. */
  readVideoRow(key: string): Promise<VideoRow | undefined>
  /**
   * Makes all changes, or none of them: resolves with false if a row has not the version that its change expects. Most
   * calls have up to six changes, those after a poll up to some hundred.
   *
   * @param news what to record in the same transaction. A store may leave it: then there are no events of tasks, no
   *   deliveries and no usage
   */
  changeVideoRows(changes: readonly VideoRowChange[], news: readonly VideoNews[]): Promise<boolean>
  /** The rows of a list in the order of their positions, which compare by their bytes. */
  listVideoRows(list: string, range: VideoListRange): Promise<readonly VideoRow[]>
}
