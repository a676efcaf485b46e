import type { VideoRow, VideoTaskStore } from '../../plugins/video-generation/store/task-store.ts'

/** A store of rows in memory. Its calls take turns of the event loop, so that transactions meet. It throws for changes that the port rules out. */
export const createMemoryRows = (): VideoTaskStore => {
  const rows = new Map<string, VideoRow>()
  const lists = new Map<string, Map<string, VideoRow>>()
  const listOf = (name: string) => {
    const list = lists.get(name) ?? new Map<string, VideoRow>()
    lists.set(name, list)
    return list
  }
  const wait = () => new Promise<void>((resolve) => setImmediate(resolve))

  return {
    async readVideoRow(key) {
      await wait()
      return rows.get(key)
    },

    async changeVideoRows(changes) {
      await wait()
      if (new Set(changes.map(({ key }) => key)).size !== changes.length) throw new Error('a row is changed twice')
      if (changes.some(({ key, from }) => rows.get(key)?.version !== from)) return false
      for (const { key, to } of changes) {
        for (const { list, position } of rows.get(key)?.lists ?? []) listOf(list).delete(position)
        if (to) rows.set(key, to)
        else rows.delete(key)
      }
      for (const { to } of changes) {
        for (const { list, position } of to?.lists ?? []) {
          if (listOf(list).has(position)) throw new Error(`two rows are at ${position} in ${list}`)
          listOf(list).set(position, to as VideoRow)
        }
      }
      return true
    },

    async listVideoRows(list, { above = '', below = '\uffff', descending = false, limit }) {
      await wait()
      const positions = [...listOf(list).keys()].filter((position) => position > above && position < below).sort()
      if (descending) positions.reverse()
      return positions.slice(0, limit).map((position) => listOf(list).get(position) as VideoRow)
    },
  }
}
