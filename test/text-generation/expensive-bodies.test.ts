import { describe, expect, test } from 'bun:test'
import { readJson } from '../../plugins/shared/json/json.ts'
import { indexed } from '../../plugins/shared/json/value-index.ts'
import { assetsIn } from '../../plugins/shared/media/media-fields.ts'
import { withAdditions } from '../../plugins/text-generation/chat/request.ts'
import { objectReferences } from '../../plugins/text-generation/objects/references.ts'
import { asResponsesStream, checkResponsesRequest } from '../../plugins/text-generation/responses/request.ts'
import { worstText } from '../bench/worst-bodies.ts'
import { checkChatRequest } from './in-one-step.ts'

describe('every byte of the most expensive bodies is parsed once, with all lookups and changes', () => {
  for (const { name, path, build } of worstText) {
    test(name, () => {
      const text = build(200_000)
      const before = indexed.bytes
      const json = readJson(text)
      const attempt = (work: () => unknown) => {
        try {
          work()
        } catch (error) {
          expect((error as { status?: number }).status).toBe(400)
        }
      }
      attempt(() => (path.endsWith('responses') ? checkResponsesRequest(json) : checkChatRequest(json)))
      attempt(() => assetsIn(json))
      attempt(() => objectReferences(json))
      const changed = path.endsWith('responses') ? asResponsesStream(json) : withAdditions(json, new Set(), {}, 1)
      expect(changed.bytes.length).toBeGreaterThan(Buffer.byteLength(text.trimEnd()))
      // Added text is parsed, too.
      expect(indexed.bytes - before).toBeLessThan(Buffer.byteLength(text) + 200)
    })
  }
})
