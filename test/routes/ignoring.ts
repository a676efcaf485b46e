import { type MediaKind, rest } from '../../plugins/upstream-proxy/index.ts'
import type { Emulator } from '../../src/emulator/index.ts'

/** An upstream that ignores some parameters of an asset list. */
export const ignoring =
  (...names: readonly string[]) =>
  (emulator: Emulator): MediaKind => {
    const kind = rest(emulator.rest)
    return {
      ...kind,
      async outgoing(operation) {
        const outgoing = await kind.outgoing(operation)
        if (operation.action !== 'ListAssets') return outgoing
        const url = new URL(outgoing.url)
        for (const name of names) url.searchParams.delete(name)
        return { ...outgoing, url: url.href }
      },
    }
  }
