import { describe, expect, test } from 'bun:test'
import { adviceFor, allAdvice, failureChanges } from 'sluice/failure-advice'
import { vendorCodes } from './vendor-codes.ts'

const codes = Object.values(vendorCodes).flat()

describe('the list', () => {
  test('every code of the vendor has an entry', () => {
    expect(codes.filter((code) => !adviceFor(code))).toEqual([])
  })

  test('no entry is for a code that the vendor does not have', () => {
    const used = new Set(codes.map((code) => adviceFor(code)?.code))
    const files = vendorCodes.assets.map((code) => `InvalidParameter.${code}`)
    expect(allAdvice().filter(({ code }) => !used.has(code) && !files.includes(code))).toEqual([])
  })

  test('each says in both languages what to do', () => {
    for (const { code, text } of allAdvice()) {
      expect([code, text.en]).toEqual([code, expect.stringMatching(/^[A-Z][^\u3400-\u9fff]{15,}\.$/)])
      expect([code, text.zh]).toEqual([code, expect.stringMatching(/[\u3400-\u9fff].*。$/)])
    }
  })

  test('what is final says what to change, or that the operator can remove the cause', () => {
    const useless = allAdvice().filter(({ retry, change, by }) => !retry && change === null && by === 'caller')
    expect(useless).toEqual([])
  })

  test('only what may succeed later says when to try again', () => {
    expect(allAdvice().filter(({ retry, retry_after }) => !retry && retry_after !== null)).toEqual([])
  })

  test('every change is used', () => {
    const used = new Set(allAdvice().map(({ change }) => change))
    expect(failureChanges.filter((change) => !used.has(change))).toEqual([])
  })
})

describe('adviceFor', () => {
  test('details after a dot have the entry of what stands before it, unless they have their own', () => {
    expect(adviceFor('InputImageSensitiveContentDetected.PolicyViolation')?.change).toBe('other_picture')
    expect(adviceFor('InputImageSensitiveContentDetected.PrivacyInformation')?.change).toBe('register_face')
    expect(adviceFor('InvalidParameter.a.b.c')?.code).toBe('InvalidParameter')
  })

  test('the message tells whether a quota is for waiting tasks or for money', () => {
    const wait = adviceFor('QuotaExceeded', 'The request has exceeded the quota')
    expect([wait?.retry, wait?.retry_after, wait?.by]).toEqual([true, 60, 'vendor'])
    for (const message of ['You have exhausted its free trial.', 'the 5-hour quota', 'weekly limit', 'Monthly limit']) {
      const money = adviceFor('QuotaExceeded', message)
      expect([money?.retry, money?.by]).toEqual([false, 'operator'])
    }
  })

  test('a full library and a limit of the operator are no queue of tasks', () => {
    for (const [message, word] of [
      ["The account's quota of 50 groups and assets is used up.", 'library'],
      ['the account has no slot for another asset of a person', 'library'],
      ['the limit of 5 assets of the user is reached', 'limit'],
      ['the limit of 5 videos per day of the user is reached; it returns at 2099-01-31T00:00:00.000Z', 'limit'],
      ['a task may have at most 3 assets of the asset library, besides those of persons', 'fewer'],
    ] as const) {
      const advice = adviceFor('QuotaExceeded', message)
      expect([message, advice?.retry, advice?.text.en]).toEqual([message, false, expect.stringContaining(word)])
    }
  })

  test('generated audio that is refused is sent again without audio', () => {
    expect(adviceFor('OutputAudioSensitiveContentDetected.PolicyViolation')?.change).toBe('without_audio')
  })

  test('unknown codes have none', () => {
    for (const code of ['', '.', '..', 'Unknown', '.InvalidParameter', 'constructor', '__proto__', 'A.'.repeat(10_000)])
      expect([code, adviceFor(code)]).toEqual([code, undefined])
  })
})
