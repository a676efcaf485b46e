import { describe } from 'bun:test'
import { memoryRateLimitStore } from '../../plugins/upstream-proxy/index.ts'
import { testRateLimitStore } from './store-tests.ts'

describe('the in-memory rate limit store', () => {
  const store = memoryRateLimitStore()
  testRateLimitStore(() => [store])
})
