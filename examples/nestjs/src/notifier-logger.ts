import { Logger } from '@nestjs/common'
import type { LogFields } from 'carillon'

/** Nest calls the level `log` that Carillon calls `info`. */
export class NotifierLogger extends Logger {
  info(...line: [message: string, fields?: LogFields]): void {
    this.log(...line)
  }
}
