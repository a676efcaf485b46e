import type { Log } from '../../shared/problem.ts'
import type { ModelRoute } from '../models/routing.ts'

/**
 * Tells callers and operators of tools that requests have and upstreams do not get, because no upstream of the model
 * could run them.
 */
export interface DroppedTools {
  /** Names them in the response header `x-dropped-tools`. Logs each once for an upstream. */
  report(response: Response, types: Iterable<string>, route: ModelRoute): void
}

export const createDroppedTools = (log: Log): DroppedTools => {
  const logged = new Set<string>()
  return {
    report(response, types, { upstream }) {
      const names = [...new Set([...types].slice(0, maxTypes).map(toName))]
      if (names.length === 0) return
      response.headers.set('x-dropped-tools', names.join(', '))
      for (const tool of names) {
        const key = `${upstream.url} ${tool}`
        if (logged.has(key) || logged.size >= maxLogged) continue
        logged.add(key)
        log.info({ upstream: upstream.url, tool }, 'left out a tool that the upstream cannot run')
      }
    },
  }
}

/** Types in one header. */
const maxTypes = 50

/** Callers choose the types. */
const maxLogged = 1000

/** The type in characters that a header and a log line may contain. */
const toName = (type: string): string => type.slice(0, 64).replaceAll(/[^\w.-]/g, '_')
