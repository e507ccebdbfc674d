import 'reflect-metadata'
import {
  type ArgumentsHost,
  Catch,
  Controller,
  HttpException,
  Inject,
  Module,
  type OnApplicationShutdown,
  Post,
  Query,
} from '@nestjs/common'
import { APP_FILTER, BaseExceptionFilter, NestFactory } from '@nestjs/core'
import { isNotifierError, type Notifier } from 'carillon'
import { dashboard } from 'carillon/dashboard'
import { notifierRouter } from 'carillon/express'
import notifier, { mailbox } from './carillon.config.js'

const NOTIFIER = Symbol('NOTIFIER')

/** Answers refusals with their code, and logs only faults. */
@Catch()
class RefusalFilter extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost) {
    if (!isNotifierError(error) || !error.expose) return super.catch(error, host)
    const { code, message, details, status } = error
    super.catch(new HttpException({ code, message, details }, status), host)
  }
}

@Controller()
class WelcomeController {
  constructor(@Inject(NOTIFIER) private readonly notifier: Notifier) {}

  @Post('welcome')
  welcome(@Query('to') to: string) {
    return this.notifier.send({ channel: 'email', to, subject: 'Welcome', body: 'Hello' })
  }
}

@Module({
  controllers: [WelcomeController],
  providers: [
    { provide: NOTIFIER, useFactory: () => notifier.start().then(() => notifier) },
    { provide: APP_FILTER, useClass: RefusalFilter },
  ],
  exports: [NOTIFIER],
})
class AppModule implements OnApplicationShutdown {
  async onApplicationShutdown() {
    await notifier.stop()
  }
}

async function main() {
  const app = await NestFactory.create(AppModule)
  app.use('/notifications', notifierRouter(notifier, { https: 'allow-loopback' }))
  app.use('/dashboard', notifierRouter(dashboard(notifier), { https: 'allow-loopback' }))
  app.use('/mailbox', notifierRouter(mailbox))
  app.enableShutdownHooks()
  await app.listen(3000)
}
void main()
