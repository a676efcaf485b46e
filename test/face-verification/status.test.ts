import { describe, expect, test } from 'bun:test'
import { isEnded, type Status, statuses, wayTo } from '../../plugins/face-verification/index.ts'

/** "Face verification status" of the document, and two moves more: its life was over, or its callback said no. */
const legal: readonly string[] = [
  'waiting_user callback_received',
  'callback_received resolving',
  'resolving verified',
  'resolving failed',
  'resolving expired',
  'waiting_user expired',
  'waiting_user failed',
]

describe('states move as the document says, and in no other way', () => {
  for (const from of statuses) {
    for (const to of statuses) {
      const isLegal = legal.includes(`${from} ${to}`)
      test(`${from} to ${to} is ${isLegal ? 'a' : 'no'} move`, () => {
        expect(wayTo(from, to)?.length === 2).toBe(isLegal)
      })
    }
  }

  test('every way is made of legal moves', () => {
    for (const from of statuses) {
      for (const to of statuses) {
        const way = wayTo(from, to)
        for (const [index, status] of (way ?? []).slice(1).entries())
          expect(legal).toContain(`${way?.[index]} ${status}`)
      }
    }
  })

  test('what has ended leads nowhere, and all else leads to every end', () => {
    const ends: readonly Status[] = ['verified', 'failed', 'expired']
    expect(statuses.filter(isEnded)).toEqual([...ends])
    for (const end of ends) {
      expect(statuses.filter((to) => wayTo(end, to))).toEqual([])
      expect(statuses.filter((from) => wayTo(from, end))).toEqual(['waiting_user', 'callback_received', 'resolving'])
    }
  })
})
