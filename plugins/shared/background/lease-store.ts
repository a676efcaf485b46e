/** Store port: named leases, so that one process at a time does a job. */
export interface LeaseStore {
  /**
   * Takes a lease, or extends it for the holder that has it. False: another holder has it. Times are milliseconds since
   * 1970.
   */
  takeLease(name: string, holder: string, now: number, until: number): Promise<boolean>
  /** Ends a lease, if this holder has it. */
  releaseLease(name: string, holder: string): Promise<void>
}
