import { describe } from 'bun:test'
import { memoryRateLimitStore } from '../../plugins/upstream-proxy/index.ts'
import { placesKeepTheirPromises } from './place-promises.ts'

describe('the in-memory rate limit store', () => {
  const store = memoryRateLimitStore()
  placesKeepTheirPromises(() => [store])
})
